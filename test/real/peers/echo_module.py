"""A module in Python, written from module.proto alone: echo_module.py GENERATED_CODE_DIRECTORY. Prints its address.

It returns the fields it gets. A field `code` makes it return that code instead, in decimal.
"""

import signal
import sys
import threading
from concurrent import futures

import grpc

sys.path.insert(0, sys.argv[1])
from weir.module.v1 import module_pb2, module_pb2_grpc  # noqa: E402


class EchoModule(module_pb2_grpc.ModuleServicer):
    def Process(self, request, context):
        codes = [int(field.value) for field in request.fields if field.key == b"code"]
        if codes:
            return module_pb2.ProcessResponse(code=codes[0], message="按要求".encode(), rowkey=request.rowkey)
        seconds_left = context.time_remaining()
        return module_pb2.ProcessResponse(
            code=module_pb2.RETURN_CODE_SUCC,
            message=b"" if seconds_left is None or seconds_left > 0 else b"too late",
            rowkey=request.rowkey,
            fields=request.fields,
        )


server = grpc.server(futures.ThreadPoolExecutor(max_workers=4))
module_pb2_grpc.add_ModuleServicer_to_server(EchoModule(), server)
port = server.add_insecure_port("127.0.0.1:0")
server.start()
print(f"127.0.0.1:{port}", flush=True)

terminated = threading.Event()
signal.signal(signal.SIGTERM, lambda *_: terminated.set())
terminated.wait()
server.stop(grace=5).wait()

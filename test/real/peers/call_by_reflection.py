"""Calls a unary method with types from server reflection alone: call_by_reflection.py HOST:PORT SERVICE/METHOD JSON."""

import sys

import grpc
from google.protobuf import json_format, message_factory
from google.protobuf.descriptor_pool import DescriptorPool
from grpc_reflection.v1alpha.proto_reflection_descriptor_database import ProtoReflectionDescriptorDatabase

address, path, request_json = sys.argv[1:]
service_name, method_name = path.split("/")

with grpc.insecure_channel(address) as channel:
    pool = DescriptorPool(ProtoReflectionDescriptorDatabase(channel))
    method = pool.FindServiceByName(service_name).FindMethodByName(method_name)
    call = channel.unary_unary(
        f"/{path}",
        request_serializer=lambda message: message.SerializeToString(),
        response_deserializer=message_factory.GetMessageClass(method.output_type).FromString,
    )
    request = json_format.Parse(request_json, message_factory.GetMessageClass(method.input_type)())
    print(json_format.MessageToJson(call(request, timeout=10)))

// Asks an HBase whether it works: the master lists the namespaces, which it refuses until it is active and initialised,
// and the region of hbase:meta answers a read. An open port says much less: it is open from the first seconds of a start.

import { BinaryReader, BinaryWriter, WireType } from '@bufbuild/protobuf/wire';
import { exchange, faultOf } from '../exchange.ts';

/** Where an HBase answers, on 127.0.0.1. */
export interface HBasePorts {
  readonly masterPort: number;
  readonly regionServerPort: number;
}

const timeoutMs = 5000;
/** RPC version 0, authentication "simple". */
const preamble = Buffer.from([...Buffer.from('HBas'), 0, 80]);
const nothing = new Uint8Array();

/** Returns what is wrong, or undefined. */
export async function findHBaseFault(ports: HBasePorts): Promise<string | undefined> {
  const master = await call(ports.masterPort, 'MasterService', 'ListNamespaceDescriptors', nothing);
  if (master !== undefined) return `the master: ${master}`;
  const region = await call(ports.regionServerPort, 'ClientService', 'Get', readOfMeta());
  return region === undefined ? undefined : `the region of hbase:meta: ${region}`;
}

async function call(port: number, service: string, method: string, parameter: Uint8Array): Promise<string | undefined> {
  try {
    const answer = await exchange({ port, timeoutMs, request: request(service, method, parameter), readAnswer });
    return answer === '' ? undefined : answer;
  } catch (error) {
    return faultOf(error);
  }
}

function request(service: string, method: string, parameter: Uint8Array): Buffer {
  const user = message(1, Buffer.from('weir-services'));
  const connectionHeader = Buffer.concat([message(1, user), message(2, Buffer.from(service))]);
  const callNumber = new BinaryWriter().tag(1, WireType.Varint).uint32(1).finish();
  const hasParameter = new BinaryWriter().tag(4, WireType.Varint).bool(true).finish();
  const requestHeader = Buffer.concat([callNumber, message(3, Buffer.from(method)), hasParameter]);
  const body = Buffer.concat([delimited(requestHeader), delimited(parameter)]);
  return Buffer.concat([preamble, length(connectionHeader), connectionHeader, length(body), body]);
}

/** GetRequest: region by name, row. The row need not exist: an empty result is an answer. */
function readOfMeta(): Uint8Array {
  const byName = new BinaryWriter().tag(1, WireType.Varint).int32(1).finish();
  const region = Buffer.concat([byName, message(2, Buffer.from('hbase:meta,,1'))]);
  return Buffer.concat([message(1, region), message(2, message(1, Buffer.from('weir-services')))]);
}

/** Returns the class of the exception in a ResponseHeader, or '' when there is none. */
function readAnswer(received: Buffer): string | undefined {
  if (received.length < 4 || received.length < 4 + received.readInt32BE(0)) return undefined;
  const header = new BinaryReader(new BinaryReader(received.subarray(4)).bytes());
  const exception = field(header, 2);
  if (exception === undefined) return '';
  return field(new BinaryReader(exception), 1)?.toString() ?? 'an exception without a name';
}

function field(reader: BinaryReader, wanted: number): Buffer | undefined {
  while (reader.pos < reader.len) {
    const [number, type] = reader.tag();
    if (number === wanted && type === WireType.LengthDelimited) return Buffer.from(reader.bytes());
    reader.skip(type);
  }
  return undefined;
}

function message(number: number, content: Uint8Array): Uint8Array {
  return new BinaryWriter().tag(number, WireType.LengthDelimited).bytes(content).finish();
}

function delimited(content: Uint8Array): Uint8Array {
  return new BinaryWriter().bytes(content).finish();
}

function length(content: Uint8Array): Buffer {
  const buffer = Buffer.alloc(4);
  buffer.writeInt32BE(content.length);
  return buffer;
}

import type { DescMessage, DescMethod, DescService, MessageShape } from '@bufbuild/protobuf';
import { fromBinary, toBinary } from '@bufbuild/protobuf';
import type { MethodDefinition } from '@grpc/grpc-js';

/**
 * Bytes that are not a message of their type. A decoder returns it instead of throwing, because grpc-js would answer with a
 * status of its own, in which the cause is lost.
 */
export class Undecodable {
  readonly typeName: string;
  readonly cause: unknown;

  constructor(typeName: string, cause: unknown) {
    this.typeName = typeName;
    this.cause = cause;
  }

  /** One line for people. */
  get message(): string {
    const reason = this.cause instanceof Error ? this.cause.message : String(this.cause);
    return `not a valid ${this.typeName}: ${reason}`;
  }
}

type Decoded<M extends DescMessage> = MessageShape<M> | Undecodable;

/** A method of a protobuf-es service as grpc-js wants it. Decoding never throws: it may give `Undecodable`. */
export function methodDefinition(method: DescMethod): MethodDefinition<Decoded<DescMessage>, Decoded<DescMessage>> {
  return {
    path: `/${method.parent.typeName}/${method.name}`,
    originalName: method.localName,
    requestStream: method.methodKind === 'client_streaming' || method.methodKind === 'bidi_streaming',
    responseStream: method.methodKind === 'server_streaming' || method.methodKind === 'bidi_streaming',
    requestSerialize: encoder(method.input),
    requestDeserialize: decoder(method.input),
    responseSerialize: encoder(method.output),
    responseDeserialize: decoder(method.output),
  };
}

/**
 * A protobuf-es service as a grpc-js server takes it, methods under their local names. A response is given as bytes, made
 * with `encoder` where an error can still be told: grpc-js keeps the errors of its serializers to itself.
 */
export function serviceDefinition(service: DescService) {
  return Object.fromEntries(
    service.methods.map((method) => [
      method.localName,
      { ...methodDefinition(method), responseSerialize: (bytes: Buffer) => bytes },
    ]),
  );
}

/** Encodes messages of a type. Throws when a message is not of it. */
export function encoder(schema: DescMessage) {
  return (message: Decoded<DescMessage>): Buffer => {
    if (message instanceof Undecodable) throw new TypeError('an undecodable message cannot be sent');
    const bytes = toBinary(schema, message);
    // grpc-js copies with Buffer methods; a view costs nothing.
    return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  };
}

function decoder(schema: DescMessage) {
  return (bytes: Buffer): Decoded<DescMessage> => {
    try {
      // Bytes fields become views of what is read: plain Uint8Arrays, not Buffers, whose `slice` means another thing.
      return fromBinary(schema, new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.byteLength));
    } catch (cause) {
      return new Undecodable(schema.typeName, cause);
    }
  };
}

import type { DescEnum, DescFile, DescMessage, DescService } from '@bufbuild/protobuf';
import { toBinary } from '@bufbuild/protobuf';
import { FileDescriptorProtoSchema } from '@bufbuild/protobuf/wkt';
import { ServerReflection, type ServerReflectionRequest } from '../../proto/gen/grpc/reflection/v1/reflection_pb.js';
import {
  ServerReflection as ServerReflectionAlpha,
  type ServerReflectionRequest as ServerReflectionRequestAlpha,
} from '../../proto/gen/grpc/reflection/v1alpha/reflection_pb.js';
import { Code } from './error.ts';
import { type ImplementedService, implement } from './handlers.ts';
import { until } from './until.ts';

/**
 * Server reflection, in its released and its alpha version, from the descriptors of the given services and of itself.
 * What can't be found is an error inside an answer, as the protocol has it: the stream goes on.
 */
export function reflect(services: readonly DescService[]): ImplementedService[] {
  const index = indexOf([...services, ServerReflection, ServerReflectionAlpha]);
  return [
    implement(ServerReflection, {
      serverReflectionInfo: (requests, { stopping }) => answers(index, until(stopping, requests)),
    }),
    implement(ServerReflectionAlpha, {
      serverReflectionInfo: (requests, { stopping }) => answers(index, until(stopping, requests)),
    }),
  ];
}

// The two versions differ in nothing but their package.
type Question = ServerReflectionRequest | ServerReflectionRequestAlpha;

async function* answers<Q extends Question>(index: Index, requests: AsyncIterable<Q>) {
  for await (const request of requests) {
    yield { validHost: request.host, originalRequest: request, messageResponse: answer(index, request.messageRequest) };
  }
}

function answer(index: Index, question: Question['messageRequest']) {
  switch (question.case) {
    case 'listServices':
      return {
        case: 'listServicesResponse' as const,
        value: { service: index.serviceNames.map((name) => ({ name })) },
      };
    case 'fileByFilename':
      return fileAnswer(index.files.get(question.value), `file ${question.value}`);
    case 'fileContainingSymbol':
      return fileAnswer(index.symbols.get(question.value), `symbol ${question.value}`);
    case 'fileContainingExtension':
    case 'allExtensionNumbersOfType':
      return failure(Code.UNIMPLEMENTED, 'extensions are not reflected');
    case undefined:
      return failure(Code.INVALID_ARGUMENT, 'message_request is absent');
  }
}

function fileAnswer(file: DescFile | undefined, what: string) {
  if (!file) return failure(Code.NOT_FOUND, `${what} is not part of this server`);
  const fileDescriptorProto = withDependencies(file).map(({ proto }) => toBinary(FileDescriptorProtoSchema, proto));
  return { case: 'fileDescriptorResponse' as const, value: { fileDescriptorProto } };
}

function failure(errorCode: Code, errorMessage: string) {
  return { case: 'errorResponse' as const, value: { errorCode, errorMessage } };
}

/** The file first, then what it imports, each once: clients need no second question. */
function withDependencies(file: DescFile): DescFile[] {
  const found = new Set([file]);
  for (const each of found) {
    for (const dependency of each.dependencies) found.add(dependency);
  }
  return [...found];
}

interface Index {
  readonly serviceNames: readonly string[];
  readonly files: ReadonlyMap<string, DescFile>;
  /** Fully qualified names of services, methods, messages and enums, nested ones included. */
  readonly symbols: ReadonlyMap<string, DescFile>;
}

function indexOf(services: readonly DescService[]): Index {
  const files = new Map<string, DescFile>();
  const symbols = new Map<string, DescFile>();
  for (const file of services.flatMap((service) => withDependencies(service.file))) {
    files.set(file.proto.name, file);
    for (const symbol of symbolsOf(file)) symbols.set(symbol, file);
  }
  return { serviceNames: services.map(({ typeName }) => typeName), files, symbols };
}

function* symbolsOf(file: DescFile): Generator<string> {
  for (const service of file.services) {
    yield service.typeName;
    for (const method of service.methods) yield `${service.typeName}.${method.name}`;
  }
  yield* typesOf(file.messages, file.enums);
}

function* typesOf(messages: readonly DescMessage[], enums: readonly DescEnum[]): Generator<string> {
  for (const { typeName } of enums) yield typeName;
  for (const message of messages) {
    yield message.typeName;
    yield* typesOf(message.nestedMessages, message.nestedEnums);
  }
}

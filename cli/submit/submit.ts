// `weir submit`: a file or standard input, line by line, into the engine.

import { createReadStream, fstatSync, openSync } from 'node:fs';
import type { Readable } from 'node:stream';
import { checkItem } from '../../dispatch/services/item.ts';
import { Runs } from '../../proto/gen/weir/runs/v1/runs_pb.js';
import { askEngine } from '../engine.ts';
import { CommandFailure, usageFailure } from '../failure.ts';
import type { Printer } from '../output/printer.ts';
import { count } from '../output/text.ts';
import { fileFailure } from '../read-file.ts';
import { inBatches } from './batches.ts';
import { maxLineBytes, readLines } from './lines.ts';
import { startProgress } from './progress.ts';
import { Submission } from './submission.ts';
import { Tally } from './tally.ts';

/** Bytes read at a time: the lines of a chunk are stored together. */
const chunkBytes = 1_048_576;

/** Submits the items of `path`, `-` for standard input. Throws a CommandFailure when any was refused. */
export async function submit(path: string, address: string, printer: Printer): Promise<void> {
  if (path !== '-') await check(path);
  const { chunks, totalBytes } = open(path);
  const tally = new Tally(path === '-' ? 'standard input' : path);
  const progress = startProgress(totalBytes, process.stderr);
  try {
    await askEngine(Runs, address, async (client) => {
      const submission = new Submission(client, tally);
      const sendAll = async (): Promise<void> => {
        for await (const lines of readLines(counted(chunks, progress.addBytes), maxLineBytes)) {
          for (const batch of inBatches(tally.itemsOf(lines))) {
            await submission.send(batch);
            progress.showItems(tally.items);
          }
        }
      };
      await Promise.race([sendAll(), submission.untilBroken()]);
      await submission.finish();
    });
  } catch (error) {
    progress.stop();
    // Nobody reads on; an input that stays open would hold the process.
    chunks.destroy();
    if (error instanceof CommandFailure) throw interruptedAt(error, tally);
    throw path === '-' ? error : fileFailure('', path, error);
  }
  progress.stop();
  tally.report(printer);
}

/**
 * Reads a file through before anything of it is sent, so that one with wrong lines is refused as a whole. What only the engine
 * knows (flows, items that are there with other fields) comes later, item by item. What can be read but once is not checked.
 */
async function check(path: string): Promise<void> {
  const { chunks, isFile } = open(path);
  if (!isFile) return void chunks.destroy();
  const tally = new Tally(path);
  try {
    for await (const lines of readLines(chunks, maxLineBytes)) {
      for (const { line, item } of tally.itemsOf(lines)) {
        const reading = checkItem(item);
        if (reading.kind === 'refused') tally.refused(line, reading.field, reading.message);
      }
    }
  } catch (error) {
    throw fileFailure('', path, error);
  }
  tally.reportChecked();
}

function open(path: string): { chunks: Readable; totalBytes: number | undefined; isFile: boolean } {
  if (path === '-') return { chunks: process.stdin, totalBytes: undefined, isFile: false };
  try {
    // Opened here, so that a file that isn't there is told before the engine is asked.
    const fd = openSync(path, 'r');
    const status = fstatSync(fd);
    if (status.isDirectory()) throw usageFailure(`${path} is a folder, a file is needed`);
    const chunks = createReadStream(path, { fd, highWaterMark: chunkBytes });
    return { chunks, totalBytes: status.size, isFile: status.isFile() };
  } catch (error) {
    throw fileFailure('', path, error);
  }
}

async function* counted(chunks: AsyncIterable<Uint8Array>, add: (bytes: number) => void): AsyncGenerator<Uint8Array> {
  for await (const chunk of chunks) {
    yield chunk;
    add(chunk.length);
  }
}

/** What has been acknowledged stays: the same input can be submitted again. */
function interruptedAt(failure: CommandFailure, tally: Tally): CommandFailure {
  if (tally.acknowledged === 0) return failure;
  const message = `${failure.message}\n${count(tally.acknowledged)} items were acknowledged; submit the same again, what is there already is recognised`;
  return new CommandFailure(failure.exitCode, message, failure);
}

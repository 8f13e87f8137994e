// What became of the lines of one submission.

import { CommandFailure, exitCodes } from '../failure.ts';
import { type Printer, toJson } from '../output/printer.ts';
import { count } from '../output/text.ts';
import type { NumberedItem } from './batches.ts';
import { readItem } from './item-line.ts';
import { type Line, maxLineBytes } from './lines.ts';
import type { SubmissionListener } from './submission.ts';

/** Refusals that are told one by one; of the rest only the number. */
const maxTold = 20;

export class Tally implements SubmissionListener {
  readonly #input: string;
  #accepted = 0;
  #existing = 0;
  #refused = 0;
  readonly #told: Array<{ readonly line: number; readonly text: string }> = [];

  /** `input` names it in messages. */
  constructor(input: string) {
    this.#input = input;
  }

  /** Acknowledged by the engine, those included that were there already. */
  get acknowledged(): number {
    return this.#accepted;
  }

  /** Items whose fate is known. */
  get items(): number {
    return this.#accepted + this.#refused;
  }

  /** The items of lines; lines that hold none are refused. */
  *itemsOf(lines: readonly Line[]): Generator<NumberedItem> {
    for (const line of lines) {
      const reading = readLine(line);
      if (reading.kind === 'item') yield { line: line.number, item: reading.item };
      else this.refused(line.number, '', reading.message);
    }
  }

  accepted(created: boolean): void {
    this.#accepted++;
    if (!created) this.#existing++;
  }

  refused(line: number, place: string, message: string): void {
    this.#refused++;
    if (this.#told.length === maxTold) return;
    this.#told.push({ line, text: `${this.#input}:${line}: ${place === '' ? '' : `${place}: `}${message}` });
  }

  /** Prints the outcome. Throws a CommandFailure that tells what was refused. */
  report(printer: Printer): void {
    const counts = { accepted: this.#accepted, existing: this.#existing, refused: this.#refused };
    if (printer.json) printer.line(toJson(counts));
    else {
      const { accepted, existing, refused } = counts;
      printer.line(`${count(accepted)} accepted (${count(existing)} were there already), ${count(refused)} refused`);
    }
    if (this.#refused > 0) throw this.#failure(`${count(this.#refused)} of ${count(this.items)} lines were refused`);
  }

  /** Throws a CommandFailure that tells what is wrong, when anything is: for lines that were looked at and not sent. */
  reportChecked(): void {
    if (this.#refused > 0) throw this.#failure(`nothing was submitted, ${count(this.#refused)} lines are wrong`);
  }

  #failure(summary: string): CommandFailure {
    const more = this.#refused > this.#told.length ? [`and ${count(this.#refused - this.#told.length)} more`] : [];
    // What the engine refuses comes later than what is wrong in itself.
    const told = this.#told.toSorted((one, other) => one.line - other.line).map(({ text }) => text);
    const lines = [...told, ...more].join('\n');
    return new CommandFailure(exitCodes.usage, `${summary}\n${lines}`);
  }
}

function readLine(line: Line): ReturnType<typeof readItem> {
  switch (line.kind) {
    case 'text':
      return readItem(line.text);
    case 'too long':
      return { kind: 'bad', message: `found ${count(line.bytes)} bytes, at most ${count(maxLineBytes)} are allowed` };
    case 'not utf-8':
      return { kind: 'bad', message: 'is not UTF-8' };
  }
}

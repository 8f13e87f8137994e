const barWidth = 30;

/** A line that is written over and over on a terminal; elsewhere nothing is printed. */
export class Progress {
  readonly #stream: NodeJS.WriteStream;

  constructor(stream: NodeJS.WriteStream) {
    this.#stream = stream;
  }

  show(done: number, all: number): void {
    if (this.#stream.isTTY) this.#stream.write(`\r${progressLine(done, all)}`);
  }

  /** Makes room for other text. */
  clear(): void {
    if (this.#stream.isTTY) this.#stream.write('\r\u001b[2K');
  }
}

export function progressLine(done: number, all: number): string {
  const filled = Math.round((barWidth * Math.min(done, all)) / Math.max(all, 1));
  const bar = '█'.repeat(filled) + '░'.repeat(barWidth - filled);
  return `${bar} ${done.toLocaleString('en')} of ${all.toLocaleString('en')} mails`;
}

// The fail points of a plan, armed one after the other until each has struck.
//
// Invariants:
//   P1  At most one engine is armed at a time, with the first that waits.
//   P2  The life of an engine that follows a death at a fail point is not armed: runs get on in between.

export class FailPointDrill {
  readonly #waiting: string[];
  #armed: string | undefined;
  #rests = false;
  /** How often each was armed, by place, and what it did when it struck. */
  readonly record = new Map<string, { armed: number; deaths: number; stops: number }>();
  readonly #planned: number;

  constructor(failPoints: readonly string[]) {
    this.#waiting = [...failPoints];
    this.#planned = failPoints.length;
    for (const failPoint of failPoints) this.record.set(placeOf(failPoint), { armed: 0, deaths: 0, stops: 0 });
  }

  get struck(): number {
    return this.#planned - this.#waiting.length;
  }

  get isArmed(): boolean {
    return this.#armed !== undefined;
  }

  get isOver(): boolean {
    return this.#waiting.length === 0;
  }

  /** For an engine that starts; whichever was armed before has ended. One that was armed in vain goes to the end of the line. */
  arm(): string | undefined {
    if (this.#armed !== undefined) this.#waiting.push(...this.#waiting.splice(0, 1));
    this.#armed = this.#rests ? undefined : this.#waiting[0];
    this.#rests = false;
    if (this.#armed !== undefined) this.#entry(this.#armed).armed++;
    return this.#armed;
  }

  /** `what`: as the engine has announced it. Answers whether it was due. */
  strike(what: string): boolean {
    const armed = this.#armed;
    if (armed === undefined || what !== `fail point ${placeOf(armed)}`) return false;
    const entry = this.#entry(armed);
    if (armed.endsWith(':stop')) entry.stops++;
    else {
      entry.deaths++;
      this.#rests = true;
    }
    this.#armed = undefined;
    this.#waiting.shift();
    return true;
  }

  #entry(failPoint: string) {
    const entry = this.record.get(placeOf(failPoint));
    if (!entry) throw new Error(`not planned: ${failPoint}`);
    return entry;
  }
}

function placeOf(failPoint: string): string {
  return failPoint.split(':')[0] ?? '';
}

/** A process that may hold runs, as far as membership cares. */
export interface Holder {
  readonly processId: string;
  readonly incarnation: string;
}

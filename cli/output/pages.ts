// Lists come in pages; commands print them one after the other, so that no list is ever in memory as a whole.

export interface Page<Row> {
  readonly rows: readonly Row[];
  /** Empty on the last page. */
  readonly next: string;
}

/** Rows of one request, at most what the engine gives. */
const maxPageRows = 1_000;

/** The rows of a list page by page, up to `limit` rows. `ask` gets how many and the token of the page before. */
export async function* readPages<Row>(
  limit: number,
  ask: (pageSize: number, pageToken: string) => Promise<Page<Row>>,
): AsyncGenerator<readonly Row[], void> {
  let left = limit;
  let token = '';
  do {
    const { rows, next } = await ask(Math.min(left, maxPageRows), token);
    yield rows;
    left -= rows.length;
    token = next;
  } while (token !== '' && left > 0);
}

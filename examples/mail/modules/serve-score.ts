import { serveModule } from '@weir/module';
import { listening } from './directory.ts';
import type { ReferenceMail } from './reference.ts';
import { trainScorer } from './score.ts';

/** Serves `mail.score` on its `endpoint`-th address, having learned from `reference`. */
export async function serveScore(reference: readonly ReferenceMail[], endpoint: number): Promise<void> {
  const scorer = trainScorer(reference);
  await serveModule(
    {
      name: 'mail.score',
      input: { subject: 'string', body: 'string' },
      output: { spam_score: 'double' },
      process: async ({ fields }) => ({ spam_score: scorer.score(fields) }),
    },
    listening('mail.score', endpoint),
  );
}

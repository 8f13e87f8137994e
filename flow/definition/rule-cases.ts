// Every rule of rules.ts that one text is enough to break, with flows that it accepts and flows that it refuses: the exact
// place and message. Read by tests only.

import { fieldsCases } from './rule-cases/fields.ts';
import { graphCases } from './rule-cases/graph.ts';
import { limitsCases } from './rule-cases/limits.ts';
import { namesCases } from './rule-cases/names.ts';
import { referencesCases } from './rule-cases/references.ts';
import type { RuleCases, TextRule } from './rule-cases/rule-case.ts';
import { shapeCases } from './rule-cases/shape.ts';
import { syntaxCases } from './rule-cases/syntax.ts';

export const ruleCases: Readonly<Record<TextRule, RuleCases>> = {
  ...syntaxCases,
  ...shapeCases,
  ...namesCases,
  ...referencesCases,
  ...graphCases,
  ...fieldsCases,
  ...limitsCases,
};

// What a rule accepts and refuses.

import type { LinkRule } from '../link.ts';
import type { RuleId } from '../rules.ts';

export interface Refusal {
  readonly text: string;
  readonly path: string;
  readonly message: string;
  /** `line:column`. */
  readonly at: string;
}

export interface RuleCases {
  readonly accepts: readonly string[];
  readonly refuses: readonly Refusal[];
}

/** Rules that one text is enough to break. */
export type TextRule = Exclude<RuleId, LinkRule>;

/** A table with every rule of a group, which its id begins with. */
export type CasesOf<Group extends string> = Readonly<Record<Extract<TextRule, `${Group}.${string}`>, RuleCases>>;

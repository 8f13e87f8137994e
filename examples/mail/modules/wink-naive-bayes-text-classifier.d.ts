// The package carries no types; these are the calls that `mail.score` makes.
declare module 'wink-naive-bayes-text-classifier' {
  interface Classifier {
    /** Functions that turn an input into tokens, applied in order. */
    definePrepTasks(tasks: ((input: never) => unknown)[]): number;
    defineConfig(config: { considerOnlyPresence: boolean; smoothingFactor: number }): boolean;
    learn(input: string, label: string): boolean;
    /** Ends learning. */
    consolidate(): boolean;
    /** Labels with the base-2 logarithm of their odds, the likeliest first; `unknown` with 0 when no token is known. */
    computeOdds(input: string): [label: string, odds: number][];
  }
  function createClassifier(): Classifier;
  export = createClassifier;
}

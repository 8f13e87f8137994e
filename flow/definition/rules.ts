// Every rule that a flow is held to. Problems carry the id; definition.test.ts has an accepted and a refused flow for each.

export const rules = {
  'syntax.size': 'The text has at most 480,000 bytes and 200,000 tokens.',
  'syntax.yaml': 'The text is YAML 1.2, of which JSON is a part.',
  'syntax.nesting': 'The text has at most 32 levels.',
  'syntax.documents': 'The text holds one flow.',
  'syntax.alias': 'Every value is written out: anchors and aliases are not used.',
  'syntax.tag': 'Values are plain: tags are not used.',
  'syntax.key': 'Keys are text.',
  'syntax.duplicate-key': 'A key stands once.',

  'shape.value': 'A value has the form that its key asks for: text, list, map.',
  'shape.unknown-key': 'Only known keys are used.',
  'shape.required': 'What a flow needs is there.',
  'shape.kind':
    'A step is exactly one of call, switch, inline, join, wait, callback, sub_flow, start_flow, for_each; and wherever keys exclude one another, one stands.',
  'shape.number': 'Counts are whole numbers, or a word that stands for one.',
  'shape.duration': 'Durations are whole numbers with a unit: ms, s, m, h or d.',
  'shape.word': 'Where a few words are allowed, it is one of them.',

  'names.flow': 'Flows and business lines: [a-z][a-z0-9_-]*, up to 64 characters.',
  'names.step': 'Steps: [a-z][a-z0-9_]*, up to 64 characters.',
  'names.field': 'Fields: [a-z][a-z0-9_]*, up to 64 characters.',
  'names.module': 'Modules: names joined by dots, up to 128 characters.',
  'names.url': 'Addresses: http:// or https://, a host, no user, no fragment, up to 2,048 characters.',
  'names.signal': 'Signals: [a-z][a-z0-9_]*, up to 64 characters.',
  'names.reserved': 'No step is called input or exit: these name writers that are no steps.',
  'names.expression-word': 'A declared field is not called like a word of the expression language.',
  'names.unique': 'No two steps and no two declared fields have one name.',

  'references.step': 'Steps that are named exist.',
  'references.duplicate': 'A list of names has each once.',
  'references.no-match': 'A switch says once what happens when no case matches.',

  'references.on-timeout': 'What follows a timeout is said of a signal that has one.',
  'references.flow': 'Flows that are named exist, in the version that is named.',
  'references.child-fields': 'What is received of a sub-flow is written by it, sent to it, or has a default there.',

  'graph.ring': 'No step waits for itself, directly or through others, and no flow for itself.',
  'graph.flow-ring': 'No flow waits for itself through others.',
  'graph.join-steps': 'A join has steps to wait for: two or more when it does not need all.',
  'graph.join-need': 'A join needs no more steps than it waits for.',
  'graph.join-losers': 'Only a join that does not need all its steps cancels the others.',

  'fields.default': 'A default is a value of the type of its field.',
  'fields.computed': 'What an inline step computes is declared, with a type that expressions have.',
  'fields.element':
    'The name of an element is no field that is sent beside it; a declared field of this name is a string or json.',
  'fields.results': 'The results of a list go into a declared json field.',
  'fields.writers': 'Of two steps that write one field, one is always before the other.',

  'expressions.valid':
    'Expressions are CEL over declared fields, within limits, with a value of the type that is needed.',

  'limits.steps': 'A flow has 1 to 1,000 steps.',
  'limits.cases': 'A switch has 1 to 1,000 cases.',
  'limits.fields': 'A flow declares up to 1,000 fields; a step sends and receives up to 100.',
  'limits.assignments': 'An inline step computes 1 to 100 fields.',
  'limits.writers': 'Up to 32 steps write one field.',
  'limits.exit-calls': 'Up to 16 calls are made when a run ends.',
  'limits.signals': 'A flow waits for up to 100 signals.',
  'limits.generations': 'A chain of runs that start each other has 1 to 10,000.',
  'limits.concurrency': '1 to 256 branches of a list are under way at a time.',
  'limits.max-failures': 'Of the branches of a list up to 10,000 may fail, or all.',
  'limits.flow-nesting': 'Sub-flows lie up to 16 deep inside one another.',
  'limits.description': 'A description has up to 4,096 characters.',
  'limits.flow-size': 'A flow as stored has at most 480,000 bytes.',
  'limits.deadline': 'A deadline is 1 ms to 400 days.',
  'limits.timeout': 'A timeout is 1 ms or more and not longer than the deadline of the flow.',
  'limits.answer-within': 'An answer is awaited 1 ms or more and not longer than the deadline of the flow.',
  'limits.wait': 'A wait takes 1 ms or more and not longer than the deadline of the flow.',
  'limits.tries': 'A call is tried 1 to 100 times.',
  'limits.backoff': 'A first pause is 1 ms or more, not longer than the longest pause, and that not than the deadline.',
  'limits.losses': '1 to 100 losses park a run.',
} as const;

export type RuleId = keyof typeof rules;

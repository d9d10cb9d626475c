// The grammar of an answer in messages with headers (harmony), after `<|start|>assistant`: analysis, then the final
// message or a call. https://github.com/openai/harmony
import { HEADERS, MESSAGE, MESSAGE_ENDS } from '../answer/format/message-header.ts';
import type { AnswerRules } from './call-grammar.ts';
import { freeText } from './free-text.ts';
import { literal } from './gbnf.ts';

const CONSTRAINED = '(" "? "<|constrain|>json")? "<|message|>"';

export function harmonyRoot({ rules, calls, schema, isCallForced }: AnswerRules): string {
  const note = freeText({ prefix: 'n-', rules, without: [...MESSAGE_ENDS, ...HEADERS, MESSAGE] });
  // A commentary without a recipient is shown, so it cannot stand before JSON.
  const channels = schema === undefined ? '("analysis" | "commentary")' : '"analysis"';
  rules.set('aside', `"<|channel|>" ${channels} "<|message|>" ${note} "<|end|><|start|>assistant"`);
  const called = calls?.arguments.map(({ name, rule }) => {
    const to = ` to=functions.${name}`;
    const header = `(${literal(`<|channel|>commentary${to}`)} | ${literal(`${to}<|channel|>commentary`)})`;
    return `${header} ${CONSTRAINED} ${rule} "<|call|>"?`;
  });
  const text = isCallForced
    ? []
    : [`"<|channel|>final" ${schema ? `${CONSTRAINED} ${schema}` : `"<|message|>" ${note}`}`];
  return `aside* (${[...text, ...(called ?? [])].join(' | ')})`;
}

// Chooses the format of a model's answers by its chat template.
import { CALLS, DROPPED, REASONING, THINK } from './families.ts';
import { HEADERS } from './message-header.ts';
import type { CallSyntax, OutputFormat } from './syntax.ts';

/** A model that writes what its prompt asks for: a JSON object, or what most models do. */
const UNKNOWN = CALLS.filter(({ hints, opens }) => hints === undefined || opens.includes('<tool_call>'));

/** The format of a model with this template (Jinja); without a template, or with one that shows none, the common marks. */
export function outputFormat(template = ''): OutputFormat {
  const contains = (hint: string) => template.includes(hint);
  const hintsOf = ({ hints, opens }: CallSyntax) => hints ?? opens.slice(0, 1);
  const calls = CALLS.filter((syntax) => hintsOf(syntax).every(contains));
  const known = REASONING.find(({ hints }) => hints?.every(contains));
  return {
    reasoning: { dropsStray: template !== '', ...(known ?? THINK) },
    calls: calls.length > 0 ? calls : UNKNOWN,
    trimsCalls: calls.some(({ trims }) => trims),
    dropped: DROPPED.filter(({ hint }) => contains(hint)).flatMap(({ marks }) => marks),
    hasHeaders: contains('<|message|>') && contains('<|start|>'),
  };
}

/** The last mark that a prompt opens and does not close: the answer continues within it. */
export function openedBy(prompt: string, { reasoning, calls, hasHeaders }: OutputFormat): string {
  const end = prompt.trimEnd();
  if (hasHeaders && end.endsWith(`${HEADERS[0]}assistant`)) return `${HEADERS[0]}assistant`;
  const call = calls.flatMap(({ opens }) => opens).find((mark) => end.endsWith(mark));
  if (call !== undefined) return call;
  let [opened, opening] = [-1, ''];
  for (const mark of reasoning?.opens ?? []) {
    const at = Math.max(prompt.lastIndexOf(mark), end.lastIndexOf(mark.trimEnd()));
    if (at > opened) [opened, opening] = [at, mark];
  }
  const closed = Math.max(-1, ...(reasoning?.closes ?? []).map((mark) => prompt.lastIndexOf(mark)));
  return opened > closed ? opening : '';
}

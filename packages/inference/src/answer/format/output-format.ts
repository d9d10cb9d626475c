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
    mayReason: known !== undefined || [...THINK.opens, ...THINK.closes].some(contains),
    hasKnownCalls: calls.length > 0,
    calls: calls.length > 0 ? calls : UNKNOWN,
    trimsCalls: calls.some(({ trims }) => trims),
    dropped: DROPPED.filter(({ hint }) => contains(hint)).flatMap(({ marks }) => marks),
    hasHeaders: contains('<|message|>') && contains('<|start|>'),
    hasChannels: HEADERS.every(contains),
  };
}

/**
 * The mark that a prompt ends with, up to white space: the answer continues within it. A mark elsewhere may be text of a
 * user.
 */
export function openedBy(prompt: string, { reasoning, calls, hasHeaders }: OutputFormat): string {
  const end = prompt.trimEnd();
  const isLast = (mark: string) => end.endsWith(mark.trimEnd());
  const header = `${HEADERS[0]}assistant`;
  if (hasHeaders && isLast(header)) return header;
  return [...calls.flatMap(({ opens }) => opens), ...(reasoning?.opens ?? [])].find(isLast) ?? '';
}

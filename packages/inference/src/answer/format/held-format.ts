// The format of an answer that a grammar holds: the marks of the model's family, and JSON where the family's own
// notation of a call is not one that a grammar holds by a schema.
import type { CallSyntax, HeldFormat, OutputFormat } from './syntax.ts';

const BARE_JSON = ['{', '['];
/** The mark of a block of code in any text. */
const FENCE = '```';

/** An answer without marks. */
export const BARE: OutputFormat = {
  ...{ reasoning: undefined, mayReason: false, calls: [], hasKnownCalls: false, trimsCalls: false, dropped: [] },
  ...{ hasHeaders: false, hasChannels: false },
};

/**
 * `hasCalls`: whether a call is allowed; `isJson`: whether the text is JSON. A call is one after a mark, or one that is
 * the beginning of the text in families that write such calls.
 */
export function heldFormat(
  format: OutputFormat,
  { hasCalls, isJson }: { readonly hasCalls: boolean; readonly isJson: boolean },
): HeldFormat {
  const { calls, hasKnownCalls, reasoning } = format;
  // The last of the common notations is an object in `<tool_call>`.
  const syntaxes = hasKnownCalls ? calls : calls.slice(-1);
  const bare = hasKnownCalls ? calls.flatMap((each) => each.bare ?? []) : ['{'];
  return {
    ...format,
    reasoning: reasoning && { ...reasoning, quotesCalls: false },
    calls: hasCalls ? syntaxes.flatMap(heldSyntax) : [],
    held: { bare: hasCalls ? bare.filter((each) => BARE_JSON.includes(each)) : [], isJson },
  };
}

function heldSyntax({ opens, bare = [], closes, body, trims }: CallSyntax): CallSyntax[] {
  const marks = [...opens, ...bare].filter((each) => !each.startsWith(FENCE) && !BARE_JSON.includes(each));
  if (marks.length === 0) return [];
  const held = body.kind === 'named' ? body : ({ kind: 'json' } as const);
  return [{ opens: marks, closes, body: held, ...(trims === undefined ? {} : { trims }) }];
}

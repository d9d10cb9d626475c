// The marks of a format by where they may occur, computed once.
import { Marks } from './marks.ts';
import { HEADERS } from './message-header.ts';
import type { CallSyntax, OutputFormat } from './syntax.ts';

export interface FormatMarks {
  readonly text: Marks;
  readonly reasoning: Marks;
  readonly after: Marks;
  /** After a call without marks of its own; the end of its line is another. */
  readonly ends: Marks;
  readonly closes: ReadonlySet<string>;
  readonly syntaxes: readonly { readonly syntax: CallSyntax; readonly opens: Marks; readonly bare: Marks }[];
}

const known = {
  withTools: new WeakMap<OutputFormat, FormatMarks>(),
  without: new WeakMap<OutputFormat, FormatMarks>(),
};

export function formatMarks(format: OutputFormat, { hasTools }: { readonly hasTools: boolean }): FormatMarks {
  const cache = hasTools ? known.withTools : known.without;
  const marks = cache.get(format) ?? compiled(format, hasTools);
  cache.set(format, marks);
  return marks;
}

function compiled({ reasoning, dropped, calls, hasHeaders }: OutputFormat, hasTools: boolean): FormatMarks {
  const opens = hasHeaders ? [] : calls.flatMap((each) => each.opens);
  const starts = hasHeaders ? [] : [...opens, ...calls.flatMap(({ bare = [] }) => bare)];
  const headers = hasHeaders ? HEADERS : [];
  const closes = calls.flatMap((each) => each.closes);
  const ends = reasoning?.closes ?? [];
  const quoted = hasTools ? starts : opens;
  return {
    text: new Marks([...(hasTools ? starts : []), ...(reasoning?.opens ?? []), ...ends, ...dropped, ...headers]),
    reasoning: new Marks([...ends, ...headers, ...(reasoning?.quotesCalls ? [] : quoted)]),
    after: new Marks([...closes, ...starts]),
    ends: new Marks([...closes, ...dropped, ...headers]),
    closes: new Set(closes),
    syntaxes: calls.map((syntax) => ({
      ...{ syntax, opens: new Marks(syntax.opens), bare: new Marks(syntax.bare ?? []) },
    })),
  };
}

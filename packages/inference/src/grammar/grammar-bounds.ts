// Checks an untrusted grammar (GBNF) before native code parses it: llama.cpp recurses as deep as groups nest, and
// expands every repetition. Text that is not GBNF is left to llama.cpp.
// github.com/ggml-org/llama.cpp/blob/master/grammars/README.md

/** Five times the size of the grammar of a schema with a thousand long values. */
export const MAX_GRAMMAR_BYTES = 512 * 1024;
/** Schemas nest at most as deep as they have values (1,000); llama.cpp's stack overflows above 10,000. */
const MAX_DEPTH = 2_000;
const MAX_RULES = 10_000;
/** Maximum number of characters, classes and names after expanding repetitions. */
const MAX_ELEMENTS = 400_000;

/** Maximum count of one repetition; schemas have at most 1,000. */
const MAX_TIMES = 2_000;

/**
 * Comments, literals, classes, names and operators; everything else is skipped. Unterminated tokens extend to the end:
 * nothing is read twice.
 */
const PARTS = /#[^\n]*|"(?:[^"\\]|\\[\s\S])*"?|\[(?:[^\]\\]|\\[\s\S])*\]?|::=|\{[^}]*\}?|[\w-]+|[()|*+?.]/g;

/** The reason for rejecting a grammar, as a message for the client; undefined if it is accepted. */
export function grammarProblem(gbnf: string): string | undefined {
  // UTF-8 has at least one byte for each UTF-16 unit.
  if (gbnf.length > MAX_GRAMMAR_BYTES) return `it has more than ${MAX_GRAMMAR_BYTES} bytes`;
  /** The sizes of all open groups; the rules themselves are the outermost. */
  const sizes = [0];
  /** The size of the element that a repetition would repeat. */
  let last = 0;
  let rules = 0;
  const add = (size: number) => {
    last = size;
    sizes[sizes.length - 1] = (sizes.at(-1) ?? 0) + size;
  };
  for (const [part] of gbnf.matchAll(PARTS)) {
    if (part === '(') {
      sizes.push(1);
      if (sizes.length > MAX_DEPTH) return `it nests deeper than ${MAX_DEPTH}`;
    } else if (part === ')') {
      const size = sizes.pop() ?? 0;
      if (sizes.length === 0) sizes.push(0);
      add(size);
    } else if (part === '::=') {
      rules += 1;
      if (rules > MAX_RULES) return `it has more than ${MAX_RULES} rules`;
    } else if (part.startsWith('{')) {
      const times = timesOf(part);
      if (times > MAX_TIMES) return `it repeats something more than ${MAX_TIMES} times`;
      add(last * (times - 1));
    } else if (!/^[#|*+?]/.test(part)) add(part.startsWith('"') ? part.length : 1);
    if ((sizes.at(-1) ?? 0) > MAX_ELEMENTS) return `it has more than ${MAX_ELEMENTS} parts, repetitions written out`;
  }
  return undefined;
}

/** The maximum count of `{3}`, `{3,}` or `{3,5}`. */
function timesOf(repetition: string): number {
  return Math.max(1, ...(repetition.match(/\d+/g) ?? []).map(Number));
}

// A grammar (GBNF) of a stranger, looked at before native code reads it: llama.cpp recurses as deep as its groups nest, and writes
// out every repetition. What is no GBNF at all is left to it.
// github.com/ggml-org/llama.cpp/blob/master/grammars/README.md

/** A schema of a thousand long values is a fifth of it. */
const MAX_GRAMMAR_BYTES = 512 * 1024;
/** Schemas nest at most as deep as they have values (1,000); llama.cpp's stack ends beyond 10,000. */
const MAX_DEPTH = 2_000;
const MAX_RULES = 10_000;
/** Characters, classes and names, with each repetition written out. */
const MAX_ELEMENTS = 400_000;

/** Of one repetition; schemas have at most 1,000. */
const MAX_TIMES = 2_000;

/** Comments, texts, classes, names, and signs; all else is passed over. What is not closed ends with the grammar: nothing is read twice. */
const PARTS = /#[^\n]*|"(?:[^"\\]|\\[\s\S])*"?|\[(?:[^\]\\]|\\[\s\S])*\]?|::=|\{[^}]*\}?|[\w-]+|[()|*+?.]/g;

/** Why it is not opened, in words for the one who sent it; undefined: it may be. */
export function grammarProblem(gbnf: string): string | undefined {
  // UTF-8 has at least one byte for each unit.
  if (gbnf.length > MAX_GRAMMAR_BYTES) return `it has more than ${MAX_GRAMMAR_BYTES} bytes`;
  /** Elements of each group that is open, the rules themselves outermost. */
  const sizes = [0];
  /** Of what a repetition would repeat. */
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

/** Of `{3}`, `{3,}` or `{3,5}`. */
function timesOf(repetition: string): number {
  return Math.max(1, ...(repetition.match(/\d+/g) ?? []).map(Number));
}

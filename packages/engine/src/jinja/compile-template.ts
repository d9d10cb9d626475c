// Parses a template as transformers does (`trim_blocks`, `lstrip_blocks`) and gives it the globals of `apply_chat_template`.
import { Environment, parse, tokenize } from '@huggingface/jinja';
import { type Node, PythonInterpreter } from './interpreter.ts';
import { strftime } from './strftime.ts';
import { Callable, Mapping, type Value } from './values.ts';

/** As in Jinja's sandbox. */
const MAX_RANGE = 100_000;

function range(...given: number[]): number[] {
  const [start = 0, stop = 0, step = 1] = given.length === 1 ? [0, ...given] : given;
  const length = Math.max(0, Math.ceil((stop - start) / step));
  if (!(length <= MAX_RANGE)) throw new Error(`a range has at most ${MAX_RANGE} numbers`);
  return Array.from({ length }, (_, i) => start + i * step);
}

/** `dict(name=value)`. */
const dict = new Callable((given: readonly Value[]) => new Mapping(new Map(given[0]?.value)));

function globalsOf(now: () => Date) {
  const constants = { true: true, false: false, none: null };
  const raise_exception = (message: unknown) => {
    throw new Error(String(message));
  };
  const strftime_now = (format: unknown) => strftime(now(), String(format));
  return { ...constants, True: true, False: false, None: null, raise_exception, strftime_now, range };
}

/** A parsed template. */
export interface CompiledTemplate {
  /** Throws where the template refuses its variables, or a name of Jinja's own is among them. */
  render(
    variables: Readonly<Record<string, unknown>>,
    now: () => Date,
  ): { readonly text: string; readonly printsNotation: boolean };
}

/** Throws for a template that is not well-formed. */
export function compileTemplate(source: string): CompiledTemplate {
  const program = parse(tokenize(withoutRaw(source), { lstrip_blocks: true, trim_blocks: true }));
  return {
    render: (variables, now) => {
      const globals = new Environment();
      for (const [name, value] of Object.entries({ ...globalsOf(now), ...variables })) globals.set(name, value);
      globals.setVariable('dict', dict as never);
      const interpreter = new PythonInterpreter(globals);
      const { value } = interpreter.evaluate(program as unknown as Node, globals);
      return { text: value, printsNotation: interpreter.printsNotation };
    },
  };
}

/** With what the block's markers strip of the text around them; a newline after the block counts as part of it. */
const RAW = /(?:(?<=^|\n)[ \t]*)?\{%([-+]?)\s*raw\s*(-?)%\}(.*?)\{%([-+]?)\s*endraw\s*(-?)%\}\n?/gs;

/** The library has no `{% raw %}`: its text becomes an expression. */
function withoutRaw(source: string): string {
  return source.replace(RAW, (_, before: string, start: string, raw: string, end: string, after: string) => {
    let text = start === '-' ? raw.trimStart() : raw;
    text = end === '-' ? text.trimEnd() : text.replace(/(?<=^|\n)[ \t]+$/, '');
    return `{{${before === '-' ? '-' : ''} ${JSON.stringify(text)} ${after}}}`;
  });
}

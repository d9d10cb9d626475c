// Addresses of the service's questions, from their path and what stands in it: typed by the OpenAPI document.
import { StackProblem } from './stack-problem.ts';
import type { StackPaths, StackStreams } from './stack-types.ts';

/** A path that `get` answers. */
export type StackPath = keyof StackPaths;
/** Those and the stream. */
export type AnyStackPath = StackPath | keyof StackStreams;

type ParametersOf<P extends AnyStackPath, Where extends 'path' | 'query'> = P extends StackPath
  ? StackPaths[P][Where]
  : P extends keyof StackStreams
    ? StackStreams[P][Where]
    : never;
/** What may be left out may also be undefined: it stays out of the URL. */
type Loose<T> = { readonly [K in keyof T]: Record<never, never> extends Pick<T, K> ? T[K] | undefined : T[K] };
type Part<Where extends 'path' | 'query', T> =
  Record<never, never> extends T
    ? { readonly [W in Where]?: Loose<T> | undefined }
    : { readonly [W in Where]: Loose<T> };

/** What stands in path and query of one question; required is what the service requires. */
export type StackInput<P extends AnyStackPath> = Part<'path', ParametersOf<P, 'path'>> &
  Part<'query', ParametersOf<P, 'query'>>;

/** Paths that can be asked without any input. */
export type BarePath = {
  [P in AnyStackPath]: Record<never, never> extends StackInput<P> ? P : never;
}[AnyStackPath];

/** Any input, once its types have been checked. */
export interface AnyInput {
  readonly path?: Readonly<Record<string, unknown>> | undefined;
  readonly query?: Readonly<Record<string, unknown>> | undefined;
}

/** The absolute URL of a question. Refuses a value that would make it the address of another. */
export function addressOf(base: URL, template: string, input: AnyInput = {}): string {
  const at = template.replaceAll(/\{([^}]+)\}/g, (_whole, name: string) => segmentOf(name, input.path?.[name]));
  const url = new URL(at, base);
  for (const [name, value] of Object.entries(input.query ?? {}))
    if (value !== undefined) url.searchParams.append(name, String(value));
  return url.href;
}

function segmentOf(name: string, value: unknown): string {
  const text = String(value ?? '').toWellFormed();
  // A path is resolved before it is sent, and these, encoded or not, would be steps in it (WHATWG URL, 4.1).
  if (/^(?:\.|%2e){0,2}$/i.test(text)) {
    const detail = text === '' ? `A ${name} is needed.` : `'${text}' cannot stand in a path.`;
    throw new StackProblem({
      status: 400,
      code: 'invalid_parameter',
      title: 'A parameter cannot be used',
      detail,
      errors: [{ field: name, message: text === '' ? 'must not be empty' : 'cannot stand in a path' }],
    });
  }
  // The apostrophe would end the quotes of a command that holds the address.
  return encodeURIComponent(text).replaceAll("'", '%27');
}

/** A command that asks the same, with a placeholder for the key. */
export function curlOf(url: string): string {
  return `curl -H 'X-Stack-Key: YOUR_KEY' '${url.replaceAll("'", '%27')}'`;
}

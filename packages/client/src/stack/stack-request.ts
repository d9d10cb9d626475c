// URLs of requests, from a path and its parameters, typed by the OpenAPI document.
import { StackProblem } from './stack-problem.ts';
import type { StackPaths, StackStreams } from './stack-types.ts';

/** A path that `get` answers. */
export type StackPath = keyof StackPaths;
/** The paths of `get`, and the stream. */
export type AnyStackPath = StackPath | keyof StackStreams;

type ParametersOf<P extends AnyStackPath, Where extends 'path' | 'query'> = P extends StackPath
  ? StackPaths[P][Where]
  : P extends keyof StackStreams
    ? StackStreams[P][Where]
    : never;
/** Optional parameters may also be undefined, which leaves them out of the URL. */
type Loose<T> = { readonly [K in keyof T]: Record<never, never> extends Pick<T, K> ? T[K] | undefined : T[K] };
type Part<Where extends 'path' | 'query', T> =
  Record<never, never> extends T
    ? { readonly [W in Where]?: Loose<T> | undefined }
    : { readonly [W in Where]: Loose<T> };

/** The path and query parameters of a request. */
export type StackInput<P extends AnyStackPath> = Part<'path', ParametersOf<P, 'path'>> &
  Part<'query', ParametersOf<P, 'query'>>;

/** Paths without required parameters. */
export type BarePath = {
  [P in AnyStackPath]: Record<never, never> extends StackInput<P> ? P : never;
}[AnyStackPath];

/** Any input, after its types were checked. */
export interface AnyInput {
  readonly path?: Readonly<Record<string, unknown>> | undefined;
  readonly query?: Readonly<Record<string, unknown>> | undefined;
}

/** The absolute URL of a request. Throws a StackProblem for a value that would change the path. */
export function addressOf(base: URL, template: string, input: AnyInput = {}): string {
  const at = template.replaceAll(/\{([^}]+)\}/g, (_match, name: string) => segmentOf(name, input.path?.[name]));
  const url = new URL(at, base);
  for (const [name, value] of Object.entries(input.query ?? {}))
    if (value !== undefined) url.searchParams.append(name, String(value));
  return url.href;
}

function segmentOf(name: string, value: unknown): string {
  const text = String(value ?? '').toWellFormed();
  // These are dot segments, encoded or not, which are resolved before the request (WHATWG URL, 4.1).
  if (/^(?:\.|%2e){0,2}$/i.test(text)) {
    const detail = text === '' ? `A ${name} is required.` : `'${text}' cannot be part of a path.`;
    throw new StackProblem({
      status: 400,
      code: 'invalid_parameter',
      title: 'A parameter cannot be used',
      detail,
      errors: [{ field: name, message: text === '' ? 'must not be empty' : 'cannot be part of a path' }],
    });
  }
  // An apostrophe would end the quotes around the URL in a shell command.
  return encodeURIComponent(text).replaceAll("'", '%27');
}

/** A curl command for the URL, with a placeholder for the key. */
export function curlOf(url: string): string {
  return `curl -H 'X-Stack-Key: YOUR_KEY' '${url.replaceAll("'", '%27')}'`;
}

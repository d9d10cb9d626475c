// Builds of server software: their `Server` headers, and the PHP packaged with them.
import type { Mint } from '../random.ts';

export interface ServerBuild {
  readonly weight: number;
  readonly header: string;
  readonly version?: string;
  /** Word in parentheses, lower case. */
  readonly platform?: string;
  /** Further software in the same header, provider id and version. */
  readonly modules?: Readonly<Record<string, string>>;
  /** The distribution's PHP, as shown by `X-Powered-By`. */
  readonly php?: string;
}

/** PHP where the server's packager provides none; the first shows nothing (`expose_php = Off`). */
export const phpBuilds: readonly { readonly weight: number; readonly version: string | null }[] = [
  { weight: 12, version: null },
  ...['7.4.33', '8.0.30', '8.1.27', '8.1.29', '8.2.12', '8.2.20', '8.3.3', '8.3.14', '8.3.23', '8.4.11'].map(
    (version) => ({ weight: 8, version }),
  ),
];

/** A constant choice, by weight. */
export function buildFor<T extends { readonly weight: number }>(mint: Mint, purpose: string, builds: readonly T[]): T {
  let rest = mint.number(purpose, 0, builds.reduce((sum, { weight }) => sum + weight, 0) - 1);
  for (const build of builds) {
    rest -= build.weight;
    if (rest < 0) return build;
  }
  throw new RangeError(`no build for ${purpose}`);
}

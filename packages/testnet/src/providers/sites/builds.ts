// Builds of server software: their `Server` headers, and the PHP packaged with them.
import type { Mint } from '../../random.ts';

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

export const nginxBuilds: readonly ServerBuild[] = [
  { weight: 50, header: 'nginx' },
  { weight: 9, header: 'nginx/1.18.0 (Ubuntu)', version: '1.18.0', platform: 'ubuntu', php: '8.1.2-1ubuntu2.14' },
  { weight: 6, header: 'nginx/1.24.0 (Ubuntu)', version: '1.24.0', platform: 'ubuntu', php: '8.3.6' },
  ...['1.14.2', '1.16.1', '1.18.0', '1.20.1', '1.20.2', '1.22.1', '1.24.0', '1.25.3', '1.26.0', '1.26.2', '1.27.4'].map(
    (version) => ({ weight: 3, header: `nginx/${version}`, version }),
  ),
  { weight: 8, header: 'nginx/1.29.3', version: '1.29.3' },
];

export const apacheBuilds: readonly ServerBuild[] = [
  { weight: 50, header: 'Apache' },
  { weight: 6, header: 'Apache/2.4.41 (Ubuntu)', version: '2.4.41', platform: 'ubuntu', php: '7.4.3-4ubuntu2.19' },
  { weight: 8, header: 'Apache/2.4.52 (Ubuntu)', version: '2.4.52', platform: 'ubuntu', php: '8.1.2-1ubuntu2.14' },
  { weight: 7, header: 'Apache/2.4.58 (Ubuntu)', version: '2.4.58', platform: 'ubuntu', php: '8.3.6' },
  { weight: 6, header: 'Apache/2.4.62 (Debian)', version: '2.4.62', platform: 'debian', php: '8.2.20' },
  { weight: 2, header: 'Apache/2.4.6 (CentOS)', version: '2.4.6', platform: 'centos' },
  { weight: 4, header: 'Apache/2.4.57 (Unix)', version: '2.4.57', platform: 'unix' },
  ...['2.4.49', '2.4.54', '2.4.59', '2.4.61', '2.4.65'].map((version) => ({
    weight: 3,
    header: `Apache/${version}`,
    version,
  })),
  windowsApache('2.4.54', '1.1.1n', '8.1.2'),
  windowsApache('2.4.58', '3.1.3', '8.2.12'),
];

export const iisBuilds: readonly ServerBuild[] = [
  { weight: 9, header: 'Microsoft-IIS/10.0', version: '10.0' },
  { weight: 1, header: 'Microsoft-IIS/8.5', version: '8.5' },
];

export const liteSpeedBuilds: readonly ServerBuild[] = [{ weight: 1, header: 'LiteSpeed' }];

/** PHP where the server's packager provides none; the first shows nothing (`expose_php = Off`). */
export const phpBuilds: readonly { readonly weight: number; readonly version: string | null }[] = [
  { weight: 12, version: null },
  ...['7.4.33', '8.0.30', '8.1.27', '8.1.29', '8.2.12', '8.2.20', '8.3.3', '8.3.14', '8.3.23', '8.4.11'].map(
    (version) => ({ weight: 8, version }),
  ),
];

/** As XAMPP and similar distributions identify themselves. */
function windowsApache(version: string, openssl: string, php: string): ServerBuild {
  const header = `Apache/${version} (Win64) OpenSSL/${openssl} PHP/${php}`;
  return { weight: 4, header, version, platform: 'win64', modules: { openssl, php }, php };
}

/** A constant choice, by weight. */
export function buildFor<T extends { readonly weight: number }>(mint: Mint, purpose: string, builds: readonly T[]): T {
  let rest = mint.number(purpose, 0, builds.reduce((sum, { weight }) => sum + weight, 0) - 1);
  for (const build of builds) {
    rest -= build.weight;
    if (rest < 0) return build;
  }
  throw new RangeError(`no build for ${purpose}`);
}

// The software of a site: its headers, and the versions they reveal.

import { buildFor, phpBuilds } from '../providers/builds.ts';
import { type Mint, mintFor } from '../random.ts';
import type { World } from '../world.ts';
import type { Plan } from './plan-type.ts';

export interface TrueVersion {
  /** As shown, `1.18.0`; null if the site shows none. */
  readonly version: string | null;
  /**
   * `ubuntu`, `win64` and the like if shown with the version; a distribution also if only the server shows it; lower
   * case.
   */
  readonly platform: string | null;
}

export interface Software {
  /** The `Server` header: of the CDN, of the host, or of the software itself. */
  readonly server: string;
  /** `X-Powered-By` and the like, overridden by the platform's and the host's own. */
  readonly headers: Readonly<Record<string, string>>;
  /** By provider id, for everything visible to a visitor. */
  readonly versions: Readonly<Record<string, TrueVersion>>;
}

const ASP_NET = '4.0.30319';
const DISTRIBUTIONS: ReadonlySet<string> = new Set(['ubuntu', 'debian', 'centos']);

export function softwareOf(plan: Plan, world: World): Software {
  const { templates } = world;
  const mint = mintFor(world.seed, plan.domain);
  const cdn = plan.cdn ? templates.cdn.of(plan.cdn) : null;
  const hosting = plan.hosting === 'self' ? null : templates.hosting.of(plan.hosting);
  const platform = templates.platform.of(plan.platform);
  const isServerShown = cdn?.server === undefined && hosting?.server === undefined;
  const isHostsOwn = hosting?.headers?.(mint)['x-powered-by'] !== undefined;
  const build = buildFor(mint, 'server', templates.server.of(plan.server).builds);
  const { version = null, platform: builder = null, modules = {} } = build;

  const versions: Record<string, TrueVersion> = {};
  if (plan.platform !== 'static') versions[plan.platform] = { version: generatedBy(plan, mint, world), platform: null };
  const headers: Record<string, string> = {};
  const php = platform.isPhp && !isHostsOwn ? (build.php ?? buildFor(mint, 'php', phpBuilds).version) : null;
  const isDistributionShown = isServerShown && plan.situation.forgedServer === null;
  if (php !== null) {
    headers['x-powered-by'] = `PHP/${php}`;
    versions.php = { version: php, platform: packagerOf(php, isDistributionShown ? builder : null) };
  }
  if (runsAspNet(plan, world) && !isHostsOwn) {
    headers['x-powered-by'] = 'ASP.NET';
    headers['x-aspnet-version'] = ASP_NET;
    versions['asp-net'] = { version: ASP_NET, platform: null };
  }
  const forged = isServerShown ? plan.situation.forgedServer : null;
  if (isServerShown && forged === null) {
    versions[plan.server] = { version, platform: builder };
    for (const [id, shown] of Object.entries(modules)) versions[id] = { version: shown, platform: builder };
  }
  return { server: cdn?.server ?? hosting?.server ?? forged ?? build.header, headers, versions };
}

/** From the version's own suffix, otherwise from the `Server` header, if that names a distribution. */
function packagerOf(version: string, serverPlatform: string | null): string | null {
  if (version.includes('ubuntu')) return 'ubuntu';
  return serverPlatform !== null && DISTRIBUTIONS.has(serverPlatform) ? serverPlatform : null;
}

/** Pages without a known platform on IIS are ASP.NET pages. */
function runsAspNet({ server, platform, hosting }: Plan, { templates }: World): boolean {
  const isOwnServer = hosting === 'self' || templates.hosting.of(hosting).server === undefined;
  return server === 'microsoft-iis' && platform === 'static' && isOwnServer;
}

/** `WordPress 6.4.2` reveals a version, `Drupal 10 (…)` only a branch. */
function generatedBy(plan: Plan, mint: Mint, { templates }: World): string | null {
  const text = templates.platform.of(plan.platform).generator?.(mint) ?? '';
  return / (\d+(?:\.\d+)+)/.exec(text)?.[1] ?? null;
}

// The configured advisory sources.
import type { Rulebook } from '@strata/detect';
import type { Config } from '../config.ts';
import type { AdvisorySource } from './source.ts';
import { cveListSource } from './sources/cve-list.ts';
import { epssSource } from './sources/epss.ts';
import { folderSource } from './sources/folder.ts';
import { kevSource } from './sources/kev.ts';
import { nvdSource } from './sources/nvd.ts';
import { osvSource } from './sources/osv.ts';

/** In the order of first syncs: small and important ones first. */
export function configuredSources(
  { advisories }: Config,
  { rulebook, nvdGapMs }: { readonly rulebook: Rulebook; readonly nvdGapMs?: number | undefined },
): AdvisorySource[] {
  const { everyMs, folder, urls, nvdApiKey } = advisories;
  if (folder !== undefined) return [folderSource({ directory: folder, everyMs })];
  const gap = nvdGapMs === undefined ? {} : { gapMs: nvdGapMs };
  const all: readonly AdvisorySource[] = [
    kevSource({ url: urls.kev, everyMs }),
    epssSource({ url: urls.epss, everyMs }),
    nvdSource({ url: urls.nvd, apiKey: nvdApiKey, everyMs, ...gap }),
    osvSource({ baseUrl: urls.osv, ecosystems: ecosystemsOf(rulebook), everyMs }),
    cveListSource({ apiUrl: urls.cve, rawUrl: urls['cve-raw'], everyMs }),
  ];
  return all.filter(({ name }) => (advisories.sources as readonly string[]).includes(name));
}

/** OSV ecosystems by package URL type. https://github.com/package-url/purl-spec */
const ECOSYSTEM: Readonly<Record<string, string>> = {
  npm: 'npm',
  composer: 'Packagist',
  pypi: 'PyPI',
  gem: 'RubyGems',
  maven: 'Maven',
  nuget: 'NuGet',
  golang: 'Go',
  cargo: 'crates.io',
  hex: 'Hex',
  pub: 'Pub',
  swift: 'SwiftURL',
};

/** The ecosystems of the rulebook's packages. */
function ecosystemsOf({ providers }: Rulebook): string[] {
  const types = [...providers.values()].flatMap(({ packages }) =>
    packages.map((name) => /^pkg:([a-z]+)\//.exec(name)?.[1]),
  );
  return [...new Set(types.flatMap((type) => (type === undefined ? [] : (ECOSYSTEM[type] ?? []))))].sort();
}

/** Origins that the operator configured, which may be at any address, including local ones. */
export function originsOf({ advisories }: Pick<Config, 'advisories'>): string[] {
  return [...new Set(Object.values(advisories.urls).map((url) => new URL(url).origin))];
}

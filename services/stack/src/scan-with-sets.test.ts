// A community set from a file to the profile that clients read: the probe keeps the source, detection finds, the API tells.
import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { describe, it } from 'node:test';
import { company, smallInternet, startHarness } from './test/harness.ts';

const set = {
  'Any Page': { cats: [19], website: 'https://any-page.example', html: ['<(?:html|head|body|title)'] },
};

interface Told {
  readonly provider_id: string;
  readonly provider: string;
  readonly evidence: readonly { readonly rule: string; readonly value: string }[];
}

describe('a scan with a community set', () => {
  it('tells of what the page source shows, with a provider of its own', async () => {
    const folder = await mkdtemp(path.join(tmpdir(), 'scan-with-sets-'));
    try {
      await writeFile(path.join(folder, 'own.json'), JSON.stringify(set));
      await using internet = await smallInternet();
      const log: string[] = [];
      await using service = await startHarness({ internet, log, settings: { STRATA_FINGERPRINTS: folder } });
      const name = company(internet, 1);
      await service.scan(name);
      const { body } = await service.get(`/stack/v1/domains/${name}`);
      const services = body.services as unknown as readonly Told[];
      const found = services.find(({ provider_id }) => provider_id === 'any-page');
      assert.equal(found?.provider, 'Any Page');
      assert.equal(found?.evidence[0]?.rule, 'any-page/html/set:html:<(?:html|head|body|title)');
      assert.match(found?.evidence[0]?.value ?? '', /^<(?:!doctype )?(?:html|head|body|title)/i);
      assert.ok(log.some((line) => line.includes('community fingerprints loaded')));
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  });
});

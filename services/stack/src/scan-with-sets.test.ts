// A community set from a file to the profile that clients read: the probe keeps the source, detection finds, the API tells.
import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, it } from 'node:test';
import { company, startHarness, temporaryDirectory } from './test/harness.ts';
import { sharedInternet } from './test/shared.ts';

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
    await using folder = await temporaryDirectory();
    await writeFile(path.join(folder.path, 'own.json'), JSON.stringify(set));
    const internet = await sharedInternet();
    const log: string[] = [];
    await using service = await startHarness({ internet, log, settings: { STRATA_FINGERPRINTS: folder.path } });
    const name = company(internet, 1);
    await service.scan(name);
    const { body } = await service.get(`/stack/v1/domains/${name}`);
    const services = body.services as unknown as readonly Told[];
    const found = services.find(({ provider_id }) => provider_id === 'any-page');
    assert.equal(found?.provider, 'Any Page');
    assert.equal(found?.evidence[0]?.rule, 'any-page/html/set:html:<(?:html|head|body|title)');
    assert.match(found?.evidence[0]?.value ?? '', /^<(?:!doctype )?(?:html|head|body|title)/i);
    assert.ok(log.some((line) => line.includes('community fingerprints loaded')));
  });
});

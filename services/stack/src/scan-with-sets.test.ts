// A community set from a file to the profile that clients read: the probe keeps the source, detection matches it, the API reports it.
import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, it } from 'node:test';
import { company, startHarness, temporaryDirectory } from './test/harness.ts';
import { sharedInternet } from './test/shared.ts';

const html = '<(?:html|head|body|title)';
const set = { 'Any Page': { cats: [19], website: 'https://any-page.example', html: [html] } };

interface Service {
  readonly provider_id: string;
  readonly provider: string;
  readonly evidence: readonly { readonly rule: string; readonly value: string }[];
}

describe('a scan with a community set', () => {
  it('reports what the page source shows, with a provider of its own', async () => {
    await using folder = await temporaryDirectory();
    await writeFile(path.join(folder.path, 'own.json'), JSON.stringify(set));
    const internet = await sharedInternet();
    await using service = await startHarness({ internet, settings: { STRATA_FINGERPRINTS: folder.path } });
    const name = company(internet, 1);
    await service.scan(name);
    const { body } = await service.get(`/stack/v1/domains/${name}`);
    const found = (body.services as readonly Service[]).find(({ provider_id }) => provider_id === 'any-page');
    const [evidence] = found?.evidence ?? [];
    assert.deepEqual([found?.provider, evidence?.rule], ['Any Page', `any-page/html/set:html:${html}`]);
    assert.match(evidence?.value ?? '', /^<(?:!doctype )?(?:html|head|body|title)/i);
  });
});

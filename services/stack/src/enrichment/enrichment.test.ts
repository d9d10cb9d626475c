import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { type AdvisorySources, createInternet, type Internet } from '@strata/testnet';
import { type Harness, startHarness } from '../test/harness.ts';

let internet: Internet;
let publishers: AdvisorySources;
let harness: Harness;
before(async () => {
  internet = await createInternet({ domains: 60, hasFaults: false });
  publishers = await internet.advisories();
  harness = await startHarness({
    internet,
    world: { nvdGapMs: 0 },
    settings: {
      STRATA_ADVISORIES: 'kev,epss,nvd,osv,cve',
      STRATA_ADVISORY_HOURS: '0.001',
      STRATA_NVD_URL: publishers.nvdUrl,
      STRATA_KEV_URL: publishers.kevUrl,
      STRATA_EPSS_URL: publishers.epssUrl,
      STRATA_OSV_URL: publishers.osvUrl,
      STRATA_CVE_API_URL: publishers.cveListUrl,
      STRATA_CVE_RAW_URL: publishers.rawUrl,
    },
  });
  await harness.scan(...internet.domains());
});
after(async () => {
  await harness?.[Symbol.asyncDispose]();
  await internet?.[Symbol.asyncDispose]();
});

describe('x', () => {
  it('y', async () => {
    for (let i = 0; i < 20; i++) {
      const { body } = await harness.get('/stack/v1/enrichment/status');
      if (i % 4 == 0 || i == 19) console.log(JSON.stringify(body, null, 1));
      if ((body.sources as any[]).filter((s) => s.state === 'complete').length === 5) break;
      await new Promise((r) => setTimeout(r, 1000));
    }
    await harness.running.service.app.pulse.now();
    console.log(JSON.stringify((await harness.get('/stack/v1/enrichment/status')).body, null, 1));
    const a = (await harness.get('/stack/v1/enrichment/advisories?limit=3')).body;
    console.log(JSON.stringify(a, null, 1).slice(0, 6000));
    const b = (await harness.get('/stack/v1/enrichment/affected?limit=4')).body;
    console.log(JSON.stringify(b, null, 1).slice(0, 5000));
    console.log(JSON.stringify((await harness.get('/stack/v1/alerts')).body, null, 1).slice(0, 3000));
    console.log(JSON.stringify((await harness.get('/stack/v1/stream/json')).body, null, 1).slice(0, 3000));
  });
});

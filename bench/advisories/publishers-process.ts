// The simulated publishers of advisories in a process of their own, so that their work is not counted as ours.
import { createAdvisorySources } from '@strata/testnet';
import { reportReady } from '../measure.ts';

const { bulk } = JSON.parse(process.argv[2] ?? '{}') as { bulk: number };
const publishers = await createAdvisorySources({ seed: 'bench', now: () => new Date(), bulk });
const { nvdUrl, kevUrl, epssUrl, osvUrl, cveListUrl, rawUrl } = publishers;
reportReady({ nvdUrl, kevUrl, epssUrl, osvUrl, cveListUrl, rawUrl }, async () => {
  await publishers[Symbol.asyncDispose]();
});

// The simulated publishers of advisories in a process of their own, so that their work is not counted as ours.
import { createAdvisorySources } from '@strata/testnet';
import { childArgument, reportReady } from '../measure.ts';

const { bulk } = childArgument<{ bulk: number }>();
const publishers = await createAdvisorySources({ seed: 'bench', now: () => new Date(), bulk });
reportReady({ nvdUrl: publishers.nvdUrl }, () => publishers[Symbol.asyncDispose]());

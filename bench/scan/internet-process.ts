// The simulated internet in a process of its own, so that its work is not counted as ours.
import { createInternet, type InternetOptions } from '@strata/testnet';
import { reportReady } from '../measure.ts';

const options = JSON.parse(process.argv[2] ?? '{}') as InternetOptions;
const internet = await createInternet(options);
const web = (port: number) => internet.dial({ address: '8.8.8.8', port }).port;
// The cost of its own work is reported separately.
process.on('message', () => process.send?.(process.cpuUsage()));
reportReady(
  {
    domains: internet.domains(),
    // Listing companies generates them, thousands of candidates included.
    feeds: options.feeds ? internet.feeds() : [],
    resolver: internet.resolver,
    caPem: internet.caPem,
    plainPort: web(80),
    securePort: web(443),
  },
  async () => {
    await internet[Symbol.asyncDispose]();
  },
);

// The simulated internet in a process of its own, so that its work is not counted as ours.
import { createInternet, type InternetOptions } from '@strata/testnet';
import { tellReady } from '../measure.ts';

const options = JSON.parse(process.argv[2] ?? '{}') as InternetOptions;
const internet = await createInternet(options);
const web = (port: number) => internet.dial({ address: '8.8.8.8', port }).port;
// What its work costs is not ours, and is told beside it.
process.on('message', () => process.send?.(process.cpuUsage()));
tellReady(
  {
    domains: internet.domains(),
    // Listing them grows them, which thousands of companies are looked at for.
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

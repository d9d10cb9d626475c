import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { entries } from '@strata/catalog';
import { compileRulebook, detect, type Evidence, loadCatalog } from '@strata/detect';
import { createProber } from '@strata/scan';
import { createInternet } from '@strata/testnet';

const rulebook = compileRulebook(loadCatalog(entries));
const file = '/tmp/rw/evidence.json';
if (!existsSync(file)) {
  await using internet = await createInternet({ domains: 300, hasFaults: false });
  await using prober = createProber({
    probeLabels: rulebook.probeLabels,
    resolver: { upstreams: [internet.resolver] },
    userAgent: 'x',
    dial: internet.dial,
    trustedCa: [internet.caPem],
  });
  const queue = internet.domains().filter((d) => internet.truth(d).state === 'active');
  const out: Evidence[] = [];
  await Promise.all(
    Array.from({ length: 32 }, async () => {
      for (let d = queue.pop(); d; d = queue.pop()) out.push(await prober.probe(d));
    }),
  );
  writeFileSync(file, JSON.stringify(out));
}
const evidence: Evidence[] = JSON.parse(readFileSync(file, 'utf8'));
const ms = Number(process.argv[2] ?? 4000);
const c = process.cpuUsage();
let n = 0;
const t = performance.now();
while (performance.now() - t < ms) {
  for (const e of evidence) detect(e, rulebook);
  n += evidence.length;
}
const u = process.cpuUsage(c);
console.log(
  'per cpu-second',
  Math.round(n / ((u.user + u.system) / 1e6)),
  'services',
  evidence.reduce((s, e) => s + detect(e, rulebook).services.length, 0) / evidence.length,
);

// Alerts and anomalies of a loaded world, so that lists of them have something to show.
import type { Store } from '@strata/stack/store';

const DAY_MS = 86_400_000;
const WINDOW_DAYS = 28;

/** As many of each as asked for, half of the anomalies of providers and half of the named domains, a day apart. */
export async function loadSignals(
  store: Store,
  { names, count, endsAt }: { readonly names: readonly string[]; readonly count: number; readonly endsAt: number },
): Promise<void> {
  for (let i = 0; i < count; i += 1) {
    const at = new Date(endsAt - Math.floor((i * 300) / count + 1) * DAY_MS - i);
    const domain = names[i % names.length] ?? '';
    const provider = `provider-${String((i % 500) + 1).padStart(4, '0')}`;
    const isProvider = i % 2 === 0;
    await store.signals.addAnomaly({
      id: `an_loaded_${i}`,
      at,
      subjectKind: isProvider ? 'provider' : 'domain',
      subject: isProvider ? provider : domain,
      metric: isProvider ? 'losses' : 'changes',
      severity: 'medium',
      facts: {
        value: 40,
        mean: 4.5,
        stddev: 2.1,
        sigma: 16.9,
        direction: 'up',
        window_days: WINDOW_DAYS,
        samples: WINDOW_DAYS,
        chance: 1e-9,
      },
    });
    await store.signals.addAlert(
      {
        id: `al_loaded_${i}`,
        at,
        kind: isProvider ? 'anomaly' : 'security',
        severity: isProvider ? 'medium' : 'high',
        subject: `loaded ${i}`,
        domain: isProvider ? null : domain,
        provider: isProvider ? provider : null,
        title: `Loaded alert ${i}`,
        detail:
          'A placeholder as long as a real alert, so that a list of these costs what a list of real alerts costs.',
        ref: isProvider ? `/stack/v1/providers/${provider}` : `/stack/v1/domains/${domain}`,
      },
      { quietMs: 0 },
    );
  }
}

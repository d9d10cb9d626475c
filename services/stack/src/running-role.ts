// A process of the service, whatever its role.
import type { Store } from '@strata/store';

/** What every role has. */
export interface RunningRole extends AsyncDisposable {
  readonly store: Store;
  /** Of the API, where there is one. */
  readonly port: number | undefined;
  readonly metricsPort: number;
  /** Where it scans. */
  readonly isDnsWorking: (() => Promise<boolean>) | undefined;
}

// The result of a check of `strata doctor`.

export interface Finding {
  /** The subject: `port 8787`, `database`, `resolver 192.0.2.1`. */
  readonly check: string;
  readonly status: 'ok' | 'warning' | 'problem';
  readonly found: string;
  /** The consequence, and how to fix it; neither where the status is ok. */
  readonly means?: string;
  readonly todo?: string;
}

export const ok = (check: string, found: string): Finding => ({ check, status: 'ok', found });

type Details = Pick<Finding, 'found' | 'means' | 'todo'>;
export const warning = (check: string, details: Details): Finding => ({ check, status: 'warning', ...details });
export const problem = (check: string, details: Details): Finding => ({ check, status: 'problem', ...details });

const UNITS = ['B', 'KiB', 'MiB', 'GiB', 'TiB'] as const;

/** `1.5 GiB`. */
export function bytes(count: number): string {
  const unit = Math.min(UNITS.length - 1, Math.floor(Math.log2(Math.max(1, count)) / 10));
  const value = count / 1_024 ** unit;
  return `${value >= 10 || unit === 0 ? Math.round(value) : value.toFixed(1)} ${UNITS[unit]}`;
}

// What a check of `strata doctor` says.

export interface Finding {
  /** What was looked at: `port 8787`, `database`, `resolver 192.0.2.1`. */
  readonly check: string;
  readonly status: 'ok' | 'warning' | 'problem';
  /** What was seen. */
  readonly found: string;
  /** What follows from it, and what to do; of what is well neither. */
  readonly means?: string;
  readonly todo?: string;
}

export const ok = (check: string, found: string): Finding => ({ check, status: 'ok', found });

type Trouble = Pick<Finding, 'found' | 'means' | 'todo'>;
export const warning = (check: string, trouble: Trouble): Finding => ({ check, status: 'warning', ...trouble });
export const problem = (check: string, trouble: Trouble): Finding => ({ check, status: 'problem', ...trouble });

const UNITS = ['B', 'KiB', 'MiB', 'GiB', 'TiB'] as const;

/** `1.5 GiB`. */
export function bytes(count: number): string {
  const unit = Math.min(UNITS.length - 1, Math.floor(Math.log2(Math.max(1, count)) / 10));
  const value = count / 1_024 ** unit;
  return `${value >= 10 || unit === 0 ? Math.round(value) : value.toFixed(1)} ${UNITS[unit]}`;
}

// Badges: confidence, severity, grade. The text carries the meaning; the colour is supplementary.
import type { ReactNode } from 'react';

export type Tone = 'plain' | 'good' | 'warn' | 'bad' | 'accent';

export function Badge({ tone = 'plain', children }: { readonly tone?: Tone; readonly children: ReactNode }) {
  return <span className={`badge ${tone}`}>{children}</span>;
}

const TONES: Readonly<Record<string, Tone>> = {
  high: 'good',
  medium: 'plain',
  low: 'warn',
};
const SEVERITIES: Readonly<Record<string, Tone>> = {
  critical: 'bad',
  high: 'bad',
  medium: 'warn',
  low: 'plain',
  info: 'plain',
};

/** The confidence of a finding. */
export function Confidence({ level }: { readonly level: string }) {
  return <Badge tone={TONES[level] ?? 'plain'}>{level}</Badge>;
}

/** The severity of an alert or advisory. */
export function Severity({ level }: { readonly level: string }) {
  return <Badge tone={SEVERITIES[level] ?? 'plain'}>{level}</Badge>;
}

/** A grade from A+ to F. */
export function Grade({ grade }: { readonly grade: string | null }) {
  const tone: Tone = grade === null ? 'plain' : grade.startsWith('A') ? 'good' : /^[BC]/.test(grade) ? 'warn' : 'bad';
  return <Badge tone={tone}>{grade ?? 'not graded'}</Badge>;
}

// Badges: confidence, severity, risk, grade. The text carries the meaning; the colour is supplementary.
import type { ReactNode } from 'react';

export type Tone = 'plain' | 'good' | 'warn' | 'bad' | 'accent';

export function Badge({ tone = 'plain', children }: { readonly tone?: Tone; readonly children: ReactNode }) {
  return <span className={`badge ${tone}`}>{children}</span>;
}

const CONFIDENCES: Readonly<Record<string, Tone>> = { high: 'good', low: 'warn' };
const SEVERITIES: Readonly<Record<string, Tone>> = { critical: 'bad', high: 'bad', medium: 'warn' };
const RISKS: Readonly<Record<string, Tone>> = { ...SEVERITIES, low: 'good' };

/** The confidence of a finding. */
export function Confidence({ level }: { readonly level: string }) {
  return <Badge tone={CONFIDENCES[level] ?? 'plain'}>{level}</Badge>;
}

/** The severity of an alert or advisory; a dash if it is unknown. */
export function Severity({ level }: { readonly level: string | null }) {
  return level === null ? '–' : <Badge tone={SEVERITIES[level] ?? 'plain'}>{level}</Badge>;
}

export function Risk({ level, of = '' }: { readonly level: string | null; readonly of?: string }) {
  return <Badge tone={RISKS[level ?? ''] ?? 'plain'}>{level === null ? 'not measured' : level + of}</Badge>;
}

export function Grade({ grade }: { readonly grade: string | null }) {
  const tone: Tone = grade === null ? 'plain' : grade.startsWith('A') ? 'good' : /^[BC]/.test(grade) ? 'warn' : 'bad';
  return <Badge tone={tone}>{grade ?? 'not graded'}</Badge>;
}

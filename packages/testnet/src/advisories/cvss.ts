// Base score of a CVSS 3.1 vector. https://www.first.org/cvss/v3-1/specification-document#7-1
const WEIGHTS: Readonly<Record<string, Readonly<Record<string, number>>>> = {
  AV: { N: 0.85, A: 0.62, L: 0.55, P: 0.2 },
  AC: { L: 0.77, H: 0.44 },
  UI: { N: 0.85, R: 0.62 },
  C: { H: 0.56, L: 0.22, N: 0 },
  I: { H: 0.56, L: 0.22, N: 0 },
  A: { H: 0.56, L: 0.22, N: 0 },
};
const PRIVILEGES = { U: { N: 0.85, L: 0.62, H: 0.27 }, C: { N: 0.85, L: 0.68, H: 0.5 } } as const;

const LABELS: Readonly<Record<string, readonly [string, Readonly<Record<string, string>>]>> = {
  AV: ['attackVector', { N: 'NETWORK', A: 'ADJACENT_NETWORK', L: 'LOCAL', P: 'PHYSICAL' }],
  AC: ['attackComplexity', { L: 'LOW', H: 'HIGH' }],
  PR: ['privilegesRequired', { N: 'NONE', L: 'LOW', H: 'HIGH' }],
  UI: ['userInteraction', { N: 'NONE', R: 'REQUIRED' }],
  S: ['scope', { U: 'UNCHANGED', C: 'CHANGED' }],
  C: ['confidentialityImpact', { H: 'HIGH', L: 'LOW', N: 'NONE' }],
  I: ['integrityImpact', { H: 'HIGH', L: 'LOW', N: 'NONE' }],
  A: ['availabilityImpact', { H: 'HIGH', L: 'LOW', N: 'NONE' }],
};

interface CvssBase {
  readonly score: number;
  readonly severity: 'NONE' | 'LOW' | 'MEDIUM' | 'HIGH' | 'CRITICAL';
  readonly exploitability: number;
  readonly impact: number;
  /** The JSON that publishers spell it out in (`cvssV3_1`, NVD's `cvssData`). */
  readonly data: Readonly<Record<string, string | number>>;
}

/** Throws RangeError if the vector is not a CVSS 3.1 vector. */
export function cvssOf(vector: string): CvssBase {
  const metrics = new Map(
    vector
      .split('/')
      .slice(1)
      .map((part) => part.split(':') as [string, string]),
  );
  const weight = (name: string) => {
    const value = WEIGHTS[name]?.[metrics.get(name) ?? ''];
    if (value === undefined) throw new RangeError(`'${vector}' has no ${name}`);
    return value;
  };
  const isChanged = metrics.get('S') === 'C';
  const privileges = PRIVILEGES[isChanged ? 'C' : 'U'][(metrics.get('PR') ?? 'N') as 'N' | 'L' | 'H'];
  const missing = 1 - (1 - weight('C')) * (1 - weight('I')) * (1 - weight('A'));
  const impact = isChanged ? 7.52 * (missing - 0.029) - 3.25 * (missing - 0.02) ** 15 : 6.42 * missing;
  const exploitability = 8.22 * weight('AV') * weight('AC') * privileges * weight('UI');
  const sum = isChanged ? 1.08 * (impact + exploitability) : impact + exploitability;
  const score = impact <= 0 ? 0 : roundUp(Math.min(sum, 10));
  const severity = severityOf(score);
  const labels = Object.entries(LABELS).map(([name, [key, values]]) => [key, values[metrics.get(name) ?? ''] ?? '']);
  return {
    score,
    severity,
    exploitability: Math.round(exploitability * 10) / 10,
    impact: Math.round(Math.max(impact, 0) * 10) / 10,
    data: {
      version: '3.1',
      vectorString: vector,
      baseScore: score,
      baseSeverity: severity,
      ...Object.fromEntries(labels),
    },
  };
}

/** Appendix A of the specification: rounds up to one decimal, without floating-point error. */
function roundUp(value: number): number {
  const scaled = Math.round(value * 100_000);
  return scaled % 10_000 === 0 ? scaled / 100_000 : (Math.floor(scaled / 10_000) + 1) / 10;
}

function severityOf(score: number): CvssBase['severity'] {
  if (score === 0) return 'NONE';
  if (score < 4) return 'LOW';
  if (score < 7) return 'MEDIUM';
  return score < 9 ? 'HIGH' : 'CRITICAL';
}

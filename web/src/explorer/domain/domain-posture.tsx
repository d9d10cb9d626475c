// The security posture of a domain: grade, factors, and advice for its owner.
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { Badge, Grade, type Tone } from '../../ui/badge.tsx';
import { Card, Figure, Figures } from '../../ui/card/card.tsx';
import { formatName, formatNumber, formatShare, formatTime } from '../../ui/formats.ts';
import type { Profile } from './domain-head.tsx';

type Security = Profile['security'];
type Factor = Security['factors'][number];

const NAMES: Readonly<Record<Factor['factor'], readonly [string, string]>> = {
  spf: ['SPF', 'which hosts may send mail for the domain'],
  dmarc: ['DMARC', 'how receivers treat mail that fails authentication'],
  dkim: ['DKIM', 'keys that sign outgoing mail; reported, not scored'],
  dnssec: ['DNSSEC', 'whether DNS answers are signed'],
  caa: ['CAA', 'which authorities may issue certificates'],
  mta_sts: ['MTA-STS', 'whether mail to the domain must be delivered over TLS'],
  tls_rpt: ['TLS-RPT', 'reports about failed TLS delivery of mail'],
  bimi: ['BIMI', 'a brand logo displayed with mail; reported, not scored'],
  tls: ['TLS', 'certificate and protocol of the website'],
  hsts: ['HSTS', 'whether browsers use HTTPS only'],
  headers: ['Security headers', 'HTTP security headers of the home page'],
  security_txt: ['security.txt', 'a contact for vulnerability reports'],
};

const FINDINGS: Readonly<Record<Factor['finding'], readonly [string, Tone]>> = {
  pass: ['✓ pass', 'good'],
  partial: ['◐ partial', 'warn'],
  fail: ['✗ missing', 'bad'],
  unmeasured: ['? not measured', 'plain'],
};

interface PostureProps {
  readonly security: Security;
  readonly source: ReactNode;
}

export function DomainPosture({ security, source }: PostureProps) {
  // Sorted by lost points: the most effective improvement comes first.
  const factors = security.factors.toSorted((a, b) => lost(b) - lost(a) || b.weight - a.weight);
  const points = security.factors.reduce((sum, factor) => sum + factor.points, 0);
  const possible = security.factors.reduce((sum, factor) => sum + factor.possible, 0);
  return (
    <Card title="Posture" actions={<Link to="/security">Scorecard of all domains</Link>} foot={source}>
      <Figures>
        <Figure name="Grade">
          <Grade grade={security.grade} />
        </Figure>
        <Figure
          name="Score"
          value={security.score}
          note={`${formatNumber(points)} of ${formatNumber(possible)} points`}
        />
        <Figure
          name="Coverage"
          value={formatShare(security.coverage)}
          note={`score version ${security.score_version}`}
        />
      </Figures>
      {security.score === null && (
        <p className="small soft note">
          The last scan measured too few factors for a score. Unmeasured factors are not counted.
        </p>
      )}
      <ol className="factors lines">
        {factors.map((factor) => (
          <li key={factor.factor}>
            <FactorRow factor={factor} fields={security[factor.factor]} />
          </li>
        ))}
      </ol>
    </Card>
  );
}

const lost = ({ possible, points }: Factor) => possible - points;

function FactorRow({ factor, fields }: { readonly factor: Factor; readonly fields: object }) {
  const [name, about] = NAMES[factor.factor];
  const [finding, tone] = FINDINGS[factor.finding];
  const isWeak = factor.finding === 'fail' && !/\.missing$|\.unsigned$|\.no-/.test(factor.id);
  return (
    <>
      <div className="row">
        <h3>{name}</h3>
        <Badge tone={tone}>{isWeak ? '✗ fail' : finding}</Badge>
        <Points factor={factor} />
      </div>
      <p className="small soft">{about}</p>
      {factor.advice && <p className="note">{factor.advice}</p>}
      {factor.evidence && (
        <p>
          <code>{factor.evidence}</code>
        </p>
      )}
      <details>
        <summary>
          Measured values<span className="hidden-text"> of {name}</span>
        </summary>
        <p className="small soft">
          Finding <code>{factor.id}</code>
          {factor.issues.length > 1 && (
            <>
              {' '}
              and <code>{factor.issues.slice(1).join(', ')}</code>
            </>
          )}
        </p>
        <FieldList value={fields} />
      </details>
    </>
  );
}

function Points({ factor: { points, possible, weight } }: { readonly factor: Factor }) {
  if (weight === 0) return <span className="small soft factor-points">not scored</span>;
  if (possible === 0) return <span className="small soft factor-points">– of {formatNumber(weight)} points</span>;
  return (
    <span className="small factor-points">
      <meter min={0} max={possible} value={points} aria-label={`${points} of ${possible} points`} />
      <span>
        {formatNumber(points)} of {formatNumber(possible)} points
      </span>
    </span>
  );
}

/** Every field of an object; null is shown as a dash. */
function FieldList({ value }: { readonly value: object }) {
  return (
    <dl className="figures">
      {Object.entries(value).map(([name, field]) => (
        <div key={name} className="figure">
          <dt>{formatName(name)}</dt>
          <dd>{textOf(field)}</dd>
        </div>
      ))}
    </dl>
  );
}

function textOf(field: unknown): string {
  if (field === null || field === undefined || field === '') return '–';
  if (typeof field === 'boolean') return field ? 'yes' : 'no';
  if (typeof field === 'number') return formatNumber(field);
  if (typeof field === 'string') return /^\d{4}-\d\d-\d\dT[\d:.]+Z$/.test(field) ? formatTime(field) : field;
  if (Array.isArray(field)) return field.length === 0 ? 'none' : field.map(textOf).join('; ');
  return Object.entries(field as object)
    .map(([name, inner]) => `${name.replaceAll('_', ' ')} ${textOf(inner)}`)
    .join(', ');
}

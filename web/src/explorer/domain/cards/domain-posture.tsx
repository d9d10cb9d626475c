// The security posture of a domain: grade, factors, and advice for its owner.
import { Link } from '@tanstack/react-router';
import { Badge, Grade, type Tone } from '../../../ui/badge.tsx';
import { Card, Figure, Figures } from '../../../ui/card/card.tsx';
import { formatNumber, formatShare } from '../../../ui/formats.ts';
import { Source } from '../../answer/source.tsx';
import type { Factor, ProfileAnswer } from '../profile.ts';
import { FieldList } from './field-list.tsx';

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

export function DomainPosture({ host, answer }: { readonly host: string; readonly answer: ProfileAnswer }) {
  const { security } = answer.body;
  // Sorted by lost points: the most effective improvement comes first.
  const factors = security.factors.toSorted((a, b) => lost(b) - lost(a) || b.weight - a.weight);
  const points = security.factors.reduce((sum, factor) => sum + factor.points, 0);
  const possible = security.factors.reduce((sum, factor) => sum + factor.possible, 0);
  return (
    <Card
      title="Posture"
      actions={<Link to="/security">Scorecard of all domains</Link>}
      foot={<Source path="/stack/v1/domains/{domain}" input={{ path: { domain: host } }} answer={answer} />}
    >
      <Figures>
        <Figure name="Grade">
          <Grade grade={security.grade} />
        </Figure>
        <Figure name="Score" note={`${formatNumber(points)} of ${formatNumber(possible)} points`}>
          {formatNumber(security.score)}
        </Figure>
        <Figure name="Coverage" note={`score version ${security.score_version}`}>
          {formatShare(security.coverage)}
        </Figure>
      </Figures>
      {security.score === null && (
        <p className="small soft factors-note">
          The last scan measured too few factors for a score. Unmeasured factors are not counted.
        </p>
      )}
      <ol className="factors">
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
      <div className="factor-head">
        <h3>{name}</h3>
        <Badge tone={tone}>{isWeak ? '✗ fail' : finding}</Badge>
        <Points factor={factor} />
      </div>
      <p className="small soft">{about}</p>
      {factor.advice && <p className="factor-advice">{factor.advice}</p>}
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

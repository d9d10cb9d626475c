// How a domain protects its mail and its visitors: the grade, what it is made of, and what its owner can do.
import { Link } from '@tanstack/react-router';
import { Badge, Grade, type Tone } from '../../../ui/badge.tsx';
import { Card, Figure, Figures } from '../../../ui/card/card.tsx';
import { formatNumber, formatShare } from '../../../ui/formats.ts';
import { Source } from '../../answer/source.tsx';
import type { Factor, ProfileAnswer } from '../profile.ts';
import { Parts } from './field-list.tsx';

const NAMES: Readonly<Record<Factor['factor'], readonly [string, string]>> = {
  spf: ['SPF', 'whether others can send in the domain’s name'],
  dmarc: ['DMARC', 'what receivers do about forged mail'],
  dkim: ['DKIM', 'keys that sign the mail; told and not scored'],
  dnssec: ['DNSSEC', 'whether DNS answers can be forged'],
  caa: ['CAA', 'who may issue certificates'],
  mta_sts: ['MTA-STS', 'whether mail to the domain can be sent in the clear'],
  tls_rpt: ['TLS-RPT', 'whether the owner hears of that'],
  bimi: ['BIMI', 'a logo beside the mail; told and not scored'],
  tls: ['TLS', 'the site’s certificate and protocol'],
  hsts: ['HSTS', 'whether visitors can be kept on HTTP'],
  headers: ['Security headers', 'what the page keeps browsers from'],
  security_txt: ['security.txt', 'whether a finder of holes knows whom to tell'],
};

const FINDINGS: Readonly<Record<Factor['finding'], readonly [string, Tone]>> = {
  pass: ['✓ in order', 'good'],
  partial: ['◐ in part', 'warn'],
  fail: ['✗ missing', 'bad'],
  unmeasured: ['? not measured', 'plain'],
};

export function DomainPosture({ host, answer }: { readonly host: string; readonly answer: ProfileAnswer }) {
  const { security } = answer.body;
  // What would gain most comes first: that is what an owner reads for.
  const factors = security.factors.toSorted((a, b) => lost(b) - lost(a) || b.weight - a.weight);
  const points = security.factors.reduce((sum, factor) => sum + factor.points, 0);
  const possible = security.factors.reduce((sum, factor) => sum + factor.possible, 0);
  return (
    <Card
      title="Posture"
      actions={<Link to="/security">All domains’ scorecard</Link>}
      foot={<Source path="/stack/v1/domains/{domain}" input={{ path: { domain: host } }} answer={answer} />}
    >
      <Figures>
        <Figure name="Grade">
          <Grade grade={security.grade} />
        </Figure>
        <Figure name="Score" note={`${formatNumber(points)} of ${formatNumber(possible)} points`}>
          {formatNumber(security.score)}
        </Figure>
        <Figure name="Measured" note={`score version ${security.score_version}`}>
          {formatShare(security.coverage)}
        </Figure>
      </Figures>
      {security.score === null && (
        <p className="small soft factors-note">
          Too little could be measured by the last look for a score. What was not measured counts neither way.
        </p>
      )}
      <ol className="factors">
        {factors.map((factor) => (
          <li key={factor.factor}>
            <FactorRow factor={factor} parts={security[factor.factor]} />
          </li>
        ))}
      </ol>
    </Card>
  );
}

const lost = ({ possible, points }: Factor) => possible - points;

function FactorRow({ factor, parts }: { readonly factor: Factor; readonly parts: object }) {
  const [name, about] = NAMES[factor.factor];
  const [finding, tone] = FINDINGS[factor.finding];
  const isWeak = factor.finding === 'fail' && !/\.missing$|\.unsigned$|\.no-/.test(factor.id);
  return (
    <>
      <div className="factor-head">
        <h3>{name}</h3>
        <Badge tone={tone}>{isWeak ? '✗ not in order' : finding}</Badge>
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
          What was read<span className="hidden-text"> of {name}</span>
        </summary>
        <p className="small soft">
          Finding <code>{factor.id}</code>
          {factor.issues.length > 1 && (
            <>
              {' '}
              with <code>{factor.issues.slice(1).join(', ')}</code>
            </>
          )}
        </p>
        <Parts value={parts} />
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

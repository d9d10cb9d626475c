// The security scorecard: adoption of standards and grades, overall and by sector.
import './security.css';
import { getRouteApi } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { Card, Figure, Figures } from '../../ui/card/card.tsx';
import { Choice } from '../../ui/choice.tsx';
import { formatDecimal, formatName, formatNumber, formatShare } from '../../ui/formats.ts';
import { Empty } from '../../ui/states.tsx';
import { Answer } from '../answer/answer.tsx';
import { SECTORS } from '../answer/sectors.ts';
import { Source } from '../answer/source.tsx';
import { useStack } from '../answer/use-stack.ts';
import { Page } from '../frame/page.tsx';
import { CountLink } from '../search/search-links.tsx';
import { oneOf, withChanges } from '../search/search-params.ts';
import { AdoptionCard, countsOf } from './adoption-card.tsx';
import { ExportCard } from './export-card.tsx';
import { GradesCard } from './grades-card.tsx';
import { SectorsCard } from './sectors-card.tsx';
import type { Scorecard } from './standards.ts';

const route = getRouteApi('/security');
const PATH = '/stack/v1/intelligence/security-scorecard';

export function Security() {
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const sector = oneOf(search.sector, SECTORS);
  const query = useStack(PATH, {});
  return (
    <Page
      title="Security scorecard"
      lead="Adoption of standards that protect mail, DNS and TLS certificates. Shares refer to the domains in which a standard was measured; failed lookups are excluded."
      actions={
        <Choice
          label="Sector"
          value={sector}
          values={SECTORS}
          nameOf={formatName}
          onChange={(value) => void navigate({ search: withChanges(search, { sector: value }), resetScroll: false })}
        />
      }
    >
      <Answer query={query} lines={12}>
        {(card, answer) => {
          const foot = <Source path={PATH} input={{}} answer={answer} />;
          const counts = countsOf(card, sector);
          return (
            <>
              <Summary card={card} sector={sector} foot={foot} />
              {counts ? (
                <AdoptionCard counts={counts} sector={sector} foot={foot} />
              ) : (
                <Card title={formatName(sector ?? '')}>
                  <Empty>No scanned domains in this sector.</Empty>
                </Card>
              )}
              <GradesCard card={card} foot={foot} />
              <ExportCard sector={sector} />
              <SectorsCard card={card} foot={foot} />
            </>
          );
        }}
      </Answer>
    </Page>
  );
}

function Summary({
  card,
  sector,
  foot,
}: {
  readonly card: Scorecard;
  readonly sector: string | undefined;
  readonly foot: ReactNode;
}) {
  const row = sector === undefined ? undefined : card.by_sector.find((one) => one.sector === sector);
  if (sector !== undefined && !row) return null;
  const { domains, adoption, mean_score: mean } = row ?? card;
  // Like the scorecard: nonexistent domains are excluded.
  const scope = { state: 'live', sector };
  return (
    <Card title={sector === undefined ? 'All domains' : formatName(sector)} foot={foot}>
      <Figures>
        <Figure name="Domains" note="existing, including parked">
          <CountLink count={domains} of={scope} />
        </Figure>
        <Figure
          name="Mean score"
          note={
            row ? (
              'of 100'
            ) : (
              <>
                of 100, in <CountLink count={card.scored} of={{ ...scope, score_gte: '0' }} /> domains
              </>
            )
          }
        >
          {formatDecimal(mean)}
        </Figure>
        <Figure name="Valid SPF" note={`of ${formatNumber(adoption.spf.measured)} measured`}>
          <CountLink count={adoption.spf.domains} of={{ flag: 'spf_valid', ...scope }}>
            {formatShare(adoption.spf.share)}
          </CountLink>
        </Figure>
        <Figure name="DMARC policy" note={`of ${formatNumber(adoption.dmarc.measured)} measured`}>
          <CountLink count={adoption.dmarc.domains} of={{ flag: 'dmarc_valid', ...scope }}>
            {formatShare(adoption.dmarc.share)}
          </CountLink>
        </Figure>
        <Figure name="DMARC reject" note="effective policy">
          <CountLink count={adoption.dmarc_effective_reject.domains} of={{ flag: 'dmarc_effective_reject', ...scope }}>
            {formatShare(adoption.dmarc_effective_reject.share)}
          </CountLink>
        </Figure>
      </Figures>
    </Card>
  );
}

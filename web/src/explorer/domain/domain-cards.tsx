// The risk of a domain, and its mentions in feeds.
import type { RiskFactor } from '@strata/client';
import { Risk } from '../../ui/badge.tsx';
import { Figure, Figures } from '../../ui/card/card.tsx';
import { formatChange, formatCount, formatDay, formatName, formatShare } from '../../ui/formats.ts';
import { Empty } from '../../ui/states.tsx';
import { numberColumn, textColumn } from '../../ui/table/columns.ts';
import { type Column, DataTable } from '../../ui/table/data-table.tsx';
import { AnswerCard } from '../answer/answer.tsx';
import { windowName } from '../feeds/leaderboard.tsx';
import { MentioningFeeds, MentionsChart } from '../feeds/mentions.tsx';

const COLUMNS: readonly Column<RiskFactor>[] = [
  textColumn('Factor', 'factor', formatName),
  numberColumn('Risk', 'risk'),
  numberColumn('Weight', 'weight', formatShare),
  { name: 'Finding', cell: ({ finding }) => finding },
];

export function DomainRisk({ domain }: { readonly domain: string }) {
  return (
    <AnswerCard title="Risk" path="/stack/v1/intelligence/risk/{domain}" input={{ path: { domain } }}>
      {({ score, level, security, vendor_concentration: concentration, method }) => (
        <>
          <Figures>
            <Figure name="Overall" value={score} note={<Risk level={level} />} />
            <Figure name="Security" value={security.score} note={<Risk level={security.level} />} />
            <Figure
              name="Vendor concentration"
              value={concentration.score}
              note={<Risk level={concentration.level} />}
            />
          </Figures>
          <Factors name="Security" factors={security.factors} />
          <Factors name="Vendor concentration" factors={concentration.factors} />
          <p className="small soft">{method} 0 is the lowest risk, 100 the highest.</p>
        </>
      )}
    </AnswerCard>
  );
}

function Factors({ name, factors }: { readonly name: string; readonly factors: readonly RiskFactor[] }) {
  return (
    <>
      <h3 className="part-head">{name}</h3>
      <DataTable
        caption={`Factors of ${name.toLowerCase()}`}
        rows={factors}
        keyOf={({ factor }) => factor}
        columns={COLUMNS}
      />
    </>
  );
}

export function DomainFeeds({ domain }: { readonly domain: string }) {
  return (
    <AnswerCard title="Mentions in feeds" path="/stack/v1/feeds/domain/{domain}" input={{ path: { domain } }}>
      {(body) =>
        body.mentions === 0 ? (
          <Empty>No feed mentions this domain.</Empty>
        ) : (
          <>
            <Figures>
              {body.windows.map(({ window, mentions, feeds, change }) => (
                <Figure
                  key={window}
                  name={windowName(window)}
                  value={mentions}
                  note={`by ${formatCount(feeds, 'feed')}, change ${formatChange(change)}`}
                />
              ))}
              <Figure
                name="Total"
                value={body.mentions}
                note={body.first_seen && `since ${formatDay(body.first_seen)}`}
              />
            </Figures>
            <MentionsChart label={`Mentions of ${body.domain} per day, last 30 days`} days={body.per_day} />
            <MentioningFeeds body={body} />
          </>
        )
      }
    </AnswerCard>
  );
}

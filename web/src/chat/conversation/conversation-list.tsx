// The conversations of this browser: to open, rename and delete.
import './conversation-list.css';
import { useEffect, useRef, useState } from 'react';
import { go, onLink } from '../location.ts';
import { Confirm } from './confirm.tsx';
import { type Conversation, titleOf } from './conversation.ts';
import { store, useConversations, useIsKept } from './conversations.ts';

interface ConversationListProps {
  readonly openId: string | null;
  readonly onNew: () => void;
}

export function ConversationList({ openId, onNew }: ConversationListProps) {
  const conversations = useConversations();
  const isKept = useIsKept();
  const [asked, setAsked] = useState<Conversation | 'all' | null>(null);
  const newButton = useRef<HTMLButtonElement>(null);
  const answer = (isSure: boolean) => {
    setAsked(null);
    if (!isSure || asked === null) return;
    store.remove(asked === 'all' ? conversations.map(({ id }) => id) : [asked.id]);
    // What had the focus is gone.
    newButton.current?.focus();
    if (asked === 'all' || asked.id === openId) go('/', { isReplacing: true });
  };
  return (
    <>
      <button ref={newButton} className="button primary chat-new" type="button" onClick={onNew}>
        New conversation
      </button>
      {conversations.length === 0 ? (
        <p className="small soft">What you ask is kept in this browser, and nowhere else.</p>
      ) : (
        <ul className="chat-list">
          {conversations.map((conversation) => (
            <Entry
              key={conversation.id}
              conversation={conversation}
              isOpen={conversation.id === openId}
              onDelete={() => setAsked(conversation)}
            />
          ))}
        </ul>
      )}
      {!isKept && (
        <p className="small field-problem" role="alert">
          This browser has no room left: delete conversations, or what is new is gone on reload.
        </p>
      )}
      {conversations.length > 0 && (
        <button className="button small" type="button" onClick={() => setAsked('all')}>
          Delete all
        </button>
      )}
      {asked !== null && (
        <Confirm
          title={asked === 'all' ? `Delete all ${conversations.length} conversations?` : 'Delete this conversation?'}
          action="Delete"
          onAnswer={answer}
        >
          <p className="soft">{asked === 'all' ? 'They are kept in this browser alone.' : `“${asked.title}”`}</p>
        </Confirm>
      )}
    </>
  );
}

interface EntryProps {
  readonly conversation: Conversation;
  readonly isOpen: boolean;
  readonly onDelete: () => void;
}

function Entry({ conversation: { id, title }, isOpen, onDelete }: EntryProps) {
  const [name, setName] = useState<string | null>(null);
  const renameButton = useRef<HTMLButtonElement>(null);
  const wasNaming = useRef(false);
  useEffect(() => {
    // Back from the field, unless somebody clicked elsewhere.
    if (name === null && wasNaming.current && document.activeElement === document.body) renameButton.current?.focus();
    wasNaming.current = name !== null;
  }, [name]);
  if (name !== null) {
    const done = () => {
      if (titleOf(name) !== '') store.change(id, (one) => ({ ...one, title: titleOf(name), setAt: Date.now() }));
      setName(null);
    };
    return (
      <li>
        <form
          onSubmit={(event) => {
            event.preventDefault();
            done();
          }}
        >
          <input
            aria-label="Name of the conversation"
            value={name}
            // biome-ignore lint/a11y/noAutofocus: the reader asked for this field
            autoFocus
            onFocus={(event) => event.target.select()}
            onChange={(event) => setName(event.target.value)}
            onBlur={done}
            onKeyDown={(event) => {
              if (event.key !== 'Escape') return;
              // An answer under way goes on.
              event.preventDefault();
              setName(null);
            }}
          />
        </form>
      </li>
    );
  }
  return (
    <li className={isOpen ? 'open' : undefined}>
      <a href={`/?chat=${id}`} onClick={onLink} aria-current={isOpen ? 'true' : undefined} title={title}>
        {title}
      </a>
      <button
        ref={renameButton}
        type="button"
        className="chat-icon"
        onClick={() => setName(title)}
        aria-label={`Rename ${title}`}
      >
        <span aria-hidden="true">✎</span>
      </button>
      <button type="button" className="chat-icon" onClick={onDelete} aria-label={`Delete ${title}`}>
        <span aria-hidden="true">✕</span>
      </button>
    </li>
  );
}

// The conversations stored in this browser: open, rename, delete.
import './conversation-list.css';
import { useEffect, useRef, useState } from 'react';
import { Button } from '../../ui/controls/button.tsx';
import { Dialog } from '../../ui/controls/dialog.tsx';
import { go, onLink } from '../location.ts';
import { type Conversation, titleOf } from './conversation.ts';
import { store, useConversations, useIsPersisted } from './conversations.ts';

interface ConversationListProps {
  readonly openId: string | null;
  readonly onNew: () => void;
}

export function ConversationList({ openId, onNew }: ConversationListProps) {
  const conversations = useConversations();
  const isPersisted = useIsPersisted();
  const [pendingDelete, setPendingDelete] = useState<Conversation | 'all' | null>(null);
  const newButton = useRef<HTMLButtonElement>(null);
  const answer = (isConfirmed: boolean) => {
    setPendingDelete(null);
    if (!isConfirmed || pendingDelete === null) return;
    store.remove(pendingDelete === 'all' ? conversations.map(({ id }) => id) : [pendingDelete.id]);
    // The element that had the focus was removed.
    newButton.current?.focus();
    if (pendingDelete === 'all' || pendingDelete.id === openId) go('/', { isReplacing: true });
  };
  return (
    <>
      <button ref={newButton} className="button primary" type="button" onClick={onNew}>
        New conversation
      </button>
      {conversations.length === 0 ? (
        <p className="small soft">Conversations are stored in this browser only.</p>
      ) : (
        <ul className="chat-list">
          {conversations.map((conversation) => (
            <Entry
              key={conversation.id}
              conversation={conversation}
              isOpen={conversation.id === openId}
              onDelete={() => setPendingDelete(conversation)}
            />
          ))}
        </ul>
      )}
      {!isPersisted && (
        <p className="small field-problem" role="alert">
          Browser storage is full: delete conversations, or new messages are lost when the page is reloaded.
        </p>
      )}
      {conversations.length > 0 && (
        <Button kind="small" onClick={() => setPendingDelete('all')}>
          Delete all
        </Button>
      )}
      {pendingDelete !== null && (
        <Dialog
          title={
            pendingDelete === 'all' ? `Delete all ${conversations.length} conversations?` : 'Delete this conversation?'
          }
          action="Delete"
          onClose={answer}
        >
          <p className="soft">
            {pendingDelete === 'all'
              ? 'They are stored in this browser only and cannot be restored.'
              : `“${pendingDelete.title}”`}
          </p>
        </Dialog>
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
    // Return the focus from the field, unless the user clicked elsewhere.
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
            aria-label="Conversation name"
            value={name}
            // biome-ignore lint/a11y/noAutofocus: the user opened this field
            autoFocus
            onFocus={(event) => event.target.select()}
            onChange={(event) => setName(event.target.value)}
            onBlur={done}
            onKeyDown={(event) => {
              if (event.key !== 'Escape') return;
              // Does not stop a running answer.
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
      <a
        href={`/?chat=${id}`}
        className="ellipsis"
        onClick={onLink}
        aria-current={isOpen ? 'true' : undefined}
        title={title}
      >
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

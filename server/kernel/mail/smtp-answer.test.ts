import { expect, test } from 'vitest'
import { isMailboxRefusal } from './smtp-answer.ts'

test.each([
  '550 5.1.1 <limit@spam.example>: Recipient address rejected: User unknown in local recipient table',
  '550-5.2.1 The email account that you tried to reach is inactive. For more\n550-5.2.1 information, go to\n550 5.2.1  https://support.google.com/mail/?p=DisabledUser - gsmtp',
  '550 5.1.10 RESOLVER.ADR.RecipientNotFound; Recipient not found by SMTP address lookup',
  '550 5.1.2 Bad destination system: no such domain',
  '550 5.1.6 Recipient no longer on server',
  '550 5.1.1 <olga@x.example>: Recipient address rejected: User unknown in relay recipient table',
  '550 Message was not accepted -- invalid mailbox.  Local mailbox olga@mail.ru is unavailable: user not found',
  '550 5.7.1 No such user!',
  '550 Unrouteable address',
  '550 olga@example.org: user unknown',
  "554 delivery error: dd This user doesn't have a yahoo.com account (olga@yahoo.com) [0] - mta1",
  '554 delivery error: dd Sorry, your message to olga@yahoo.com cannot be delivered. This mailbox is disabled (554.30). [-5] - mta1',
  '550 #5.1.0 Address rejected. No such recipient',
  '551 User not local; please try <olga@other.example>',
  '511 sorry, no mailbox here by that name (#5.1.1 - chkuser)',
])('a mailbox is refused: %s', (reply) => {
  expect(isMailboxRefusal(reply)).toBe(true)
})

test.each([
  '550 5.4.5 Daily user sending quota exceeded. x65sm25351206pga.71 - gsmtp',
  '554 5.2.0 STOREDRV.Submission.Exception:SendAsDeniedException.MapiExceptionSendAsDenied',
  '550 5.2.1 The user you are trying to contact is receiving mail at a rate that prevents additional messages from being delivered',
  '550 5.1.3 Outgoing mails per hour reached: 300',
  '550 5.1.1 Maximum number of recipients per day reached',
  '550 5.2.0 Daily allowance used up',
  '550 5.2.1 Your account has been suspended from sending',
  '550 5.1.1 Превышена квота отправителя',
  '550 5.7.1 Client host rejected: cannot find your hostname, [203.0.113.5]',
  '550 5.7.1 Could not find a valid SPF record for wall.example',
  '550 5.7.0 DKIM: cannot find public key',
  '550 5.2.1 Outbound mail is disabled for this account',
  '550 5.1.3 Invalid From address',
  '550 5.1.1 Отправка писем с этого ящика запрещена',
  '550 Client IP address unknown',
  '550 5.7.1 Helo command rejected: invalid address',
  '550 5.7.1 Authentication failed: unknown user or wrong password',
  '550 5.2.1 Mailbox temporarily disabled, try again later',
  '550 5.1.1 Service unavailable, greylisted',
  '552 5.2.1 Insufficient disk space',
  '552 5.2.2 Mailbox full',
  '550 5.1.1 <wall@example.org>: Sender address rejected: User unknown in virtual mailbox table',
  '550-Verification failed for <wall@example.org>\n550-No Such User Here\n550 Sender verify failed',
  '550 spam message rejected. Please visit http://help.mail.ru/notspam-support/id?c=0123456789ABCDEF or  report details',
  '550-JunkMail rejected - wall.example (wall) [203.0.113.5]:34032 is in an RBL, see\n550 https://rbl.example/query/ip/203.0.113.5',
  '554 5.7.1 Service unavailable; Client host [203.0.113.5] blocked using zen.spamhaus.org',
  '550 5.7.1 Relaying denied',
  '550 5.4.1 Recipient address rejected: Access denied. [DB5EUR01FT001.eop-EUR01.prod.protection.outlook.com]',
  '550 5.7.1 Policy rejection on the target address',
  '550 Requested action not taken: mailbox unavailable',
  '550 5.1.1.9 is no status',
  '450 4.1.1 User unknown',
  '',
])('the mail or its sender is refused, or nothing is stated: %s', (reply) => {
  expect(isMailboxRefusal(reply)).toBe(false)
})

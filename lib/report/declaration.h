/* The type that the source declares a variable with, as far as lines near a use tell. */
#ifndef LIB_REPORT_DECLARATION_H
#define LIB_REPORT_DECLARATION_H

#include "lib/report/place.h"

/* The class or structure that the line declares the variable as, or as a pointer or reference to: "Account" of "void
 * pay(const Account &to)" and of "struct Account *to;". False: it declares none of that name, or its type is no word.
 */
bool declaration_type(const char *line, const char *name, char type[EXPRESSION_MAX]);
/* What the place's line names `written`, by the type that it is a member of: "Account::balance" of "to.balance", and of
 * "this->balance". False: the type is not known, or it is no member. */
bool declaration_member(const struct report *r, const struct place *place, const char *written,
                        char member[EXPRESSION_MAX]);
/* The member of the function's own object that the place's line names alone, and by its type: "count_" of "return
 * count_;", "Stock::count_". */
bool declaration_alone(const struct report *r, const struct place *place, char name[EXPRESSION_MAX],
                       char member[EXPRESSION_MAX]);
/* The same of a lock, which the acquire's line names, or that of a caller. acquire: NULL: not described. */
bool declaration_of_lock(const struct report *r, const struct description *acquire, const char *written,
                         char member[EXPRESSION_MAX]);
/* A held lock for people, by the type that it is a member of where that is known. written: as the source has it. */
void declaration_held(const struct report *r, const struct held_lock *held, char written[SUBJECT_NAME_MAX],
                      char words[SUBJECT_NAME_MAX]);
/* The same at a place: "Account::m (from->m)", where the line reaches it by more than its name. False: the type is not
 * known. */
bool declaration_at_place(const struct report *r, const struct held_lock *held, char text[SUBJECT_NAME_MAX]);

#endif

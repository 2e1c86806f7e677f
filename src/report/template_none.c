/* template_none.c: stands for the page where it could not be built. */
#include "report/template.h"

const sv__page_template sv__template = {0};
